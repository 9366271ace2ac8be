import { parseArgs } from 'node:util';
import { readDuration } from '../config/index.ts';
import { type Command, UsageError } from './command.ts';
import { parseAmount } from './parse-number.ts';
import { isRefusal } from './remote/answer.ts';
import type { AppliedBody } from './remote/bodies.ts';
import { changeHeaders, changeOptions, changeUsage } from './remote/change.ts';
import { converse, remoteOptions, remoteUsage } from './remote/connect.ts';
import { describeChange } from './remote/describe-change.ts';
import { awaitVerdict } from './remote/guard-verdict.ts';
import { readBody, showAnswer } from './remote/show.ts';

const options = {
  ...remoteOptions,
  ...changeOptions,
  force: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  guard: { type: 'string' },
  'guard-errors': { type: 'string' },
  'guard-p99': { type: 'string' },
} as const;

/**
 * Lets the gateway read its configuration again. With `--guard` it stays until the guard has judged the change, also one
 * that began to serve shortly before. Exit 0 when it serves; 1 when it was refused or taken back; 4 when `--if-match` is
 * stale.
 */
export const reload: Command = {
  usage: `[--force] [--dry-run] [--guard DURATION [--guard-errors POINTS] [--guard-p99 FACTOR]] ${changeUsage} ${remoteUsage}`,
  summary: 'Let a running gateway read its configuration again.',
  run(args, context) {
    const { values } = parseArgs({ args, options });
    const { force, 'dry-run': dry_run, message } = values;
    const { guard, durationMs } = guardOf(values);
    return converse(values, context, async (client) => {
      const query = { force, dry_run, message, ...guard };
      const answer = await client.ask({ method: 'POST', path: '/v1/reload', query, headers: changeHeaders(values) });
      const code = showAnswer(context, answer, values.json, describeChange);
      const applied = isRefusal(answer.status) ? null : readBody<AppliedBody>(answer);
      if (durationMs === null || !applied || applied.result === 'dry_run') return code;
      if (applied.guard) return awaitVerdict(client, context, applied.guard, durationMs);
      context.stderr.write(`no guard: revision ${applied.revision} has served longer than it, or is the first one\n`);
      return code;
    });
  },
};

interface GuardFlags {
  readonly guard?: string | undefined;
  readonly 'guard-errors'?: string | undefined;
  readonly 'guard-p99'?: string | undefined;
}

/** What the flags say of the guard, as parameters; its time in milliseconds, null without one. */
function guardOf({ guard, 'guard-errors': errors, 'guard-p99': p99 }: GuardFlags) {
  if (guard === undefined) {
    if (errors !== undefined || p99 !== undefined) throw new UsageError('--guard-errors and --guard-p99 need --guard');
    return { guard: {}, durationMs: null };
  }
  const durationMs = readDuration(guard);
  if (!durationMs) throw new UsageError(`not a duration such as 60s: ${guard}`);
  const guard_errors = errors === undefined ? undefined : parseAmount(errors, 'a number of percentage points');
  const guard_p99 = p99 === undefined ? undefined : parseAmount(p99, 'a factor');
  return { guard: { guard, guard_errors, guard_p99 }, durationMs };
}
