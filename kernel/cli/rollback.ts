import { parseArgs } from 'node:util';
import { type Command, UsageError } from './command.ts';
import { parseCount } from './parse-number.ts';
import { changeHeaders, changeOptions, changeUsage } from './remote/change.ts';
import { converse, remoteOptions, remoteUsage } from './remote/connect.ts';
import { describeChange } from './remote/describe-change.ts';
import { showAnswer } from './remote/show.ts';

/** Builds an old revision as a new one. Exit 0 when it serves, 1 when it was refused, 4 when `--if-match` is stale. */
export const rollback: Command = {
  usage: `REVISION ${changeUsage} ${remoteUsage}`,
  summary: 'Let a running gateway serve an earlier configuration again.',
  run(args, context) {
    const options = { ...remoteOptions, ...changeOptions } as const;
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const [number, ...others] = positionals;
    if (number === undefined || others.length > 0) throw new UsageError('please give one revision');
    const path = `/v1/revisions/${parseCount(number, 'a revision')}/rollback`;
    const { message } = values;
    return converse(values, context, async (client) => {
      const answer = await client.ask({ method: 'POST', path, query: { message }, headers: changeHeaders(values) });
      return showAnswer(context, answer, values.json, describeChange);
    });
  },
};
