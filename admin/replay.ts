import type Koa from 'koa';
import type { Operations, RehearsalOptions } from '#kernel';
import { inQuery, queryNumber, queryText, queryWord } from './parameters.ts';
import { Problem } from './problem.ts';

/** Default and maximum number of requests to replay. */
const DEFAULT_REQUESTS = 200;
const MAX_REQUESTS = 10_000;

/** Value of `replay` for strict mode with the default number of requests. */
const STRICT = 'strict';

/** Maximum length of the accepted differences, in characters. */
const MAX_ACCEPTED = 8_000;

const modes = ['report', STRICT] as const;

/** Parameters that replay recorded requests before a change. */
export const replayParameters = [
  inQuery(
    'replay',
    'Number of recorded requests to replay with the active and the new configuration before the change, 1 to 10000; `strict` replays 200 in strict mode. The latest requests that telemetry/recorder keeps in memory are used. No backend is called.',
    { type: 'string' },
  ),
  inQuery(
    'replay_mode',
    'What differences in the responses do: `report` lists them in the outcome, `strict` rejects the change with 422. Requires `replay`.',
    { type: 'string', enum: modes, default: 'report' },
  ),
  inQuery(
    'replay_accept',
    'Differences to accept, one per line, as `sluice replay` prints them after "accept:". Requires `replay`.',
    { type: 'string', maxLength: MAX_ACCEPTED },
  ),
];

/** The replay that a request demands; undefined without one. @throws Problem bad-request. */
export function replayOf(ctx: Koa.Context, gateway: Operations): RehearsalOptions | undefined {
  const wish = queryText(ctx, 'replay');
  const mode = queryWord(ctx, 'replay_mode', modes);
  const accepted = queryText(ctx, 'replay_accept');
  if (wish === undefined) {
    if (mode === STRICT) throw new Problem('bad-request', 'replay_mode requires replay');
    if (accepted !== undefined) throw new Problem('bad-request', 'replay_accept requires replay');
    return undefined;
  }
  if (accepted !== undefined && accepted.length > MAX_ACCEPTED) {
    throw new Problem('bad-request', `replay_accept must have at most ${MAX_ACCEPTED} characters`);
  }
  const isStrict = mode === STRICT || wish === STRICT;
  const count =
    wish === STRICT
      ? DEFAULT_REQUESTS
      : (queryNumber(ctx, 'replay', { least: 1, most: MAX_REQUESTS, whole: true }) ?? DEFAULT_REQUESTS);
  if (gateway.recordings(1) === null) {
    throw new Problem('bad-request', 'replay requires recorded requests: configure telemetry/recorder');
  }
  return { count, isStrict, accepted: new Set(accepted?.split('\n')) };
}
