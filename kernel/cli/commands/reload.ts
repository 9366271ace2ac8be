import type { Flags } from '#contract';
import { readDuration } from '../../config/index.ts';
import { oneOf, parseAmount, readArguments, UsageError } from '../arguments.ts';
import { adminVariables, type Command } from '../command.ts';
import type { AppliedBody } from '../remote/bodies.ts';
import { changeFlags, changeHeaders, describeChange } from '../remote/change.ts';
import { isRefusal } from '../remote/client.ts';
import { converse, remoteFlags } from '../remote/connect.ts';
import { awaitDecision } from '../remote/guard.ts';
import { replayFlags, replayQuery } from '../remote/replay.ts';
import { awaitShadow, shadowFlags, shadowQuery, startedLine } from '../remote/shadow.ts';
import { readBody, showResponse } from '../remote/show.ts';

const flags = {
  force: { type: 'boolean', about: 'Rebuild even if nothing has changed.' },
  'dry-run': { type: 'boolean', about: 'Build the configuration without activating it.' },
  guard: {
    type: 'string',
    value: 'DURATION',
    otherwise: 'no guard',
    about:
      'Monitor errors and latency for this duration after the change, for example 60s, and roll back if they increase.',
  },
  'guard-errors': {
    type: 'string',
    value: 'POINTS',
    otherwise: '5',
    about: 'Roll back if the error rate rises by this many percentage points.',
  },
  'guard-p99': {
    type: 'string',
    value: 'FACTOR',
    otherwise: '2',
    about: 'Roll back if the 99th percentile of the latency grows by this factor.',
  },
  ...replayFlags,
  ...shadowFlags,
  contracts: {
    type: 'string',
    value: 'MODE',
    otherwise: 'contracts are not checked',
    about:
      'strict rejects the change if recorded requests show that it breaks a contract. The folder of contracts is a setting of the admin API.',
  },
  ...changeFlags,
  ...remoteFlags,
} as const satisfies Flags;

/**
 * Makes the gateway reload its configuration. With `--guard`, waits until the guard has decided on the change,
 * including one applied shortly before; with `--shadow`, until the shadow run has ended. Exit code 0 when it is active; 1 when it was rejected or rolled back; 4 when
 * `--if-match` is stale.
 */
export const reload: Command = {
  usage: '',
  flags,
  variables: adminVariables,
  summary: 'Reload the configuration of a running gateway.',
  details:
    'Exit codes: 0 the change is active, or its shadow run found no differences, 1 rejected, rolled back or different, 3 no gateway responded, 4 another revision than --if-match is active.',
  run(args, context) {
    const { values } = readArguments(args, flags);
    const { force, 'dry-run': dry_run, message } = values;
    const replay = replayQuery(values);
    const shadow = shadowQuery(values);
    const contracts = values.contracts === undefined ? undefined : oneOf('contracts', values.contracts, ['strict']);
    const { guard, durationMs } = guardOf(values);
    return converse(values, context, async (client) => {
      const query = { force, dry_run, message, ...replay, contracts, ...shadow, ...guard };
      const response = await client.ask({ method: 'POST', path: '/v1/reload', query, headers: changeHeaders(values) });
      const code = showResponse(context, response, values.json, describeChange);
      const applied = isRefusal(response.status) ? null : readBody<AppliedBody>(response);
      if (applied?.shadow && values.wait) return awaitShadow(client, context, applied.shadow, values.json);
      if (applied?.shadow) context.stderr.write(startedLine(applied.shadow));
      if (durationMs === null || !applied || applied.result === 'dry_run') return code;
      if (applied.guard) return awaitDecision(client, context, applied.guard, durationMs);
      context.stderr.write(
        `the guard is not active: the guard period of revision ${applied.revision} is over, or it is the first revision\n`,
      );
      return code;
    });
  },
};

interface GuardFlags {
  readonly guard?: string | undefined;
  readonly 'guard-errors'?: string | undefined;
  readonly 'guard-p99'?: string | undefined;
}

/** Converts the guard flags to query parameters; its duration is in milliseconds, null without a guard. */
function guardOf({ guard, 'guard-errors': errors, 'guard-p99': p99 }: GuardFlags) {
  if (guard === undefined) {
    if (errors !== undefined || p99 !== undefined)
      throw new UsageError('--guard-errors and --guard-p99 require --guard');
    return { guard: {}, durationMs: null };
  }
  const durationMs = readDuration(guard);
  if (!durationMs) throw new UsageError(`not a duration such as 60s: ${guard}`);
  const guard_errors = errors === undefined ? undefined : parseAmount(errors, 'a number of percentage points');
  const guard_p99 = p99 === undefined ? undefined : parseAmount(p99, 'a factor');
  return { guard: { guard, guard_errors, guard_p99 }, durationMs };
}
