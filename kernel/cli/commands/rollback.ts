import type { Flags } from '#contract';
import { parseCount, readArguments, UsageError } from '../arguments.ts';
import { adminVariables, type Command } from '../command.ts';
import { changeFlags, changeHeaders, describeChange } from '../remote/change.ts';
import { converse, remoteFlags } from '../remote/connect.ts';
import { showResponse } from '../remote/show.ts';

const flags = { ...changeFlags, ...remoteFlags } as const satisfies Flags;

/**
 * Applies an old revision as a new one. Exit code 0 when it is active, 1 when it was rejected, 4 when `--if-match` is
 * stale.
 */
export const rollback: Command = {
  usage: 'REVISION',
  flags,
  variables: adminVariables,
  summary: 'Activate an earlier configuration in a running gateway.',
  details:
    'Exit codes: 0 the change is active, 1 rejected, 3 no gateway responded, 4 another revision than --if-match is active.',
  run(args, context) {
    const { values, positionals } = readArguments(args, flags, true);
    const [number, ...others] = positionals;
    if (number === undefined || others.length > 0) throw new UsageError('exactly one revision is required');
    const path = `/v1/revisions/${parseCount(number, 'a revision')}/rollback`;
    const { message } = values;
    return converse(values, context, async (client) => {
      const response = await client.ask({ method: 'POST', path, query: { message }, headers: changeHeaders(values) });
      return showResponse(context, response, values.json, describeChange);
    });
  },
};
