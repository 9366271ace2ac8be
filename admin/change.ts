import type Koa from 'koa';
import {
  type Change,
  defaultThresholds,
  type GuardWish,
  rehearseBoth,
  rehearseContracts,
  rehearseReplay,
} from '#kernel';
import { appliedBody, appliedSchema } from './applied-body.ts';
import { callerOf } from './caller.ts';
import { contractsOf, contractsParameter } from './contracts.ts';
import { currentEtag, demandMatch, etagOf } from './etag.ts';
import type { Admin, Operation, Parameter } from './operation.ts';
import { inQuery, queryDuration, queryFlag, queryNumber, queryText } from './parameters.ts';
import { configProblems, type ProblemSlug } from './problem.ts';
import { replayOf, replayParameters } from './replay.ts';
import { jsonResponse, objectOf, whole } from './schemas.ts';
import { shadowOf, shadowParameters } from './shadow.ts';

/** Longest wait for earlier changes, in seconds. */
const DEFAULT_WAIT = 30;
const MAX_WAIT = 600;

/** Maximum characters of a history message. */
const MAX_MESSAGE = 1000;

/** Parameters of all operations that apply a configuration. */
export const changeParameters: readonly Parameter[] = [
  inQuery('dry_run', 'Dry run: performs every step except activating the configuration.', {
    type: 'boolean',
    default: false,
  }),
  inQuery('force', 'Applies the configuration even if it is already active.', { type: 'boolean', default: false }),
  inQuery('message', 'Message recorded in the history.', { type: 'string', maxLength: MAX_MESSAGE }),
  inQuery('wait', 'Maximum time in seconds to wait for earlier changes to finish.', {
    type: 'number',
    minimum: 0,
    maximum: MAX_WAIT,
    default: DEFAULT_WAIT,
  }),
  inQuery(
    'guard',
    'Observation period after the change, for example 60s. The change is rolled back if endpoints fail more often or respond more slowly.',
    {
      type: 'string',
    },
  ),
  inQuery('guard_errors', 'Allowed increase of the error rate, in percentage points.', {
    type: 'number',
    default: defaultThresholds.errorRatePoints,
  }),
  inQuery('guard_p99', 'Allowed increase of the p99 latency, as a factor.', {
    type: 'number',
    default: defaultThresholds.p99Factor,
  }),
  inQuery('guard_calls', 'Minimum number of calls after which the guard decides.', {
    type: 'integer',
    default: defaultThresholds.minimumCalls,
  }),
  ...replayParameters,
  ...shadowParameters,
  contractsParameter,
  {
    name: 'Prefer',
    in: 'header',
    description:
      'Value of the Prefer header. `respond-async` returns 202 as soon as the change has started, before its result is known.',
    schema: { type: 'string' },
  },
];

/** Responses of all operations that apply a configuration. */
export const changeResponses: Operation['responses'] = {
  200: jsonResponse(
    'The outcome of the change. With a guard or a shadow run, the Location header is the URL of its report.',
    appliedSchema,
  ),
  202: jsonResponse(
    'The change has started. Returned with Prefer: respond-async; the Location header is the URL of the outcome.',
    objectOf('BegunAttempt', { attempt: whole }),
  ),
};

/** Problems that can prevent a change. */
export const changeProblems: readonly ProblemSlug[] = [
  ...configProblems,
  'reload-in-progress',
  'draining',
  'warmup',
  'replay',
  'shadow-running',
  'timeout',
];

/**
 * Applies a configuration as requested and responds with the result once all workers have switched, or with the attempt
 * when the client does not want to wait.
 * @throws Problem; Refusal; GatewayError RELOAD_IN_PROGRESS.
 */
export async function applyChange(
  ctx: Koa.Context,
  admin: Admin,
  wish: Pick<Change, 'trigger' | 'source' | 'participant' | 'recorded' | 'message'>,
): Promise<void> {
  const { gateway } = admin;
  const begun = Promise.withResolvers<number>();
  const shadow = shadowOf(ctx, admin);
  const change: Change = {
    ...wish,
    actor: callerOf(ctx)?.id ?? null,
    message: messageOf(ctx) ?? wish.message,
    force: queryFlag(ctx, 'force'),
    dryRun: queryFlag(ctx, 'dry_run'),
    waitMs: (queryNumber(ctx, 'wait', { most: MAX_WAIT }) ?? DEFAULT_WAIT) * 1000,
    guard: guardOf(ctx),
    rehearse: rehearsalOf(ctx, admin),
    provided: ({ id, hash }) => demandMatch(ctx, { revision: id, hash }),
    begun: begun.resolve,
  };
  const applied = shadow ? admin.operating.shadow.start(change, shadow) : gateway.apply(change);
  if (prefersAsync(ctx)) {
    const attempt = await Promise.race([begun.promise, applied.then(() => begun.promise)]);
    // A rejection is reported to clients by the attempt; without this handler it would be an unhandled rejection.
    applied.catch(() => {});
    respondBegun(ctx, attempt);
    return;
  }
  const outcome = await applied;
  const { guard, shadow: run } = gateway.attempts.get(outcome.attempt) ?? {};
  if (guard || run) ctx.set('Location', attemptAt(outcome.attempt));
  ctx.set('ETag', outcome.result === 'dry_run' ? currentEtag(gateway) : etagOf(outcome));
  ctx.body = appliedBody(outcome, gateway);
}

/** Examination of the new configuration with recorded requests; undefined without one. @throws Problem bad-request. */
function rehearsalOf(ctx: Koa.Context, admin: Admin): Change['rehearse'] {
  const { gateway } = admin;
  const replay = replayOf(ctx, gateway);
  const folder = contractsOf(ctx, admin);
  if (replay && folder !== undefined) return rehearseBoth(gateway, replay, folder);
  if (replay) return rehearseReplay(gateway, replay);
  return folder === undefined ? undefined : rehearseContracts(gateway, folder);
}

function respondBegun(ctx: Koa.Context, attempt: number): void {
  ctx.status = 202;
  ctx.set({ Location: attemptAt(attempt), 'Preference-Applied': 'respond-async' });
  ctx.body = { attempt };
}

/** URL path of an attempt, under which clients read its outcome and the state of its guard. */
function attemptAt(attempt: number): string {
  return `/v1/attempts/${attempt}`;
}

function prefersAsync(ctx: Koa.Context): boolean {
  return ctx
    .get('prefer')
    .split(',')
    .some((preference) => preference.trim().toLowerCase() === 'respond-async');
}

function messageOf(ctx: Koa.Context): string | undefined {
  return queryText(ctx, 'message')?.slice(0, MAX_MESSAGE);
}

function guardOf(ctx: Koa.Context): GuardWish | undefined {
  const thresholds = {
    errorRatePoints: queryNumber(ctx, 'guard_errors', { most: 100 }) ?? defaultThresholds.errorRatePoints,
    p99Factor: queryNumber(ctx, 'guard_p99', { least: 1 }) ?? defaultThresholds.p99Factor,
    minimumCalls: queryNumber(ctx, 'guard_calls', { whole: true }) ?? defaultThresholds.minimumCalls,
  };
  const durationMs = queryDuration(ctx, 'guard');
  return durationMs ? { durationMs, thresholds } : undefined;
}
