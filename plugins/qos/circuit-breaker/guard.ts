import { randomUUID } from 'node:crypto';
import {
  BackendError,
  type BackendSite,
  type Call,
  CancelledError,
  type DataObject,
  type Infer,
  type PipeRequest,
  Reply,
  type Schema,
  type Wrap,
} from '#contract';
import { placeOf } from '../lib/backend-place.ts';
import {
  type Breaker,
  type BreakerSettings,
  createBreaker,
  enter,
  follow,
  leave,
  OPEN,
  type Outcome,
  type Turn,
} from './state.ts';

/** Schema fields common to both forms of the breaker. */
export const breakerSchema = {
  type: 'object',
  title: 'Circuit breaker',
  examples: [{ interval: 60, timeout: 10, max_errors: 3, name: 'users', log_status_change: true }],
  required: ['interval', 'timeout', 'max_errors'],
  properties: {
    interval: {
      type: 'integer',
      minimum: 0,
      description: 'Time in seconds after which a closed breaker resets its failure count. 0 disables the reset.',
      examples: [60],
    },
    timeout: {
      type: 'integer',
      minimum: 0,
      description: 'Time in seconds that the breaker stays open. 0 means 60.',
      examples: [10],
    },
    max_errors: {
      type: 'integer',
      minimum: 0,
      description:
        'Number of consecutive failures that are tolerated. One more failure opens the breaker. Failures are counted per worker; a breaker that opens in one worker opens in all workers.',
      examples: [3],
    },
    name: { type: 'string', description: 'Breaker name in the log.', default: '', examples: ['users'] },
    log_status_change: { type: 'boolean', description: 'Logs every change of state.', default: false },
  },
} as const satisfies Schema;

export type BreakerConfig = Infer<typeof breakerSchema>;

/** Shared error for all rejected calls: creating one costs more than rejecting. */
const open = new BackendError('CIRCUIT_OPEN', 'circuit breaker is open');
const busy = new BackendError('CIRCUIT_BUSY', 'too many requests');

/** Open duration in seconds if the configuration sets 0. */
const DEFAULT_OPEN_SECONDS = 60;

/** The breaker of one process. It also receives its own changes, with a delay. */
interface Shared {
  readonly breaker: Breaker;
  readonly id: string;
}

/** State change that a breaker reports to the other workers. */
type Report = Turn & { readonly by: string };

/**
 * Wraps a backend and stops calling it while it keeps failing. The state belongs to the backend's place, never to the
 * settings. Each worker counts separately, but a breaker that opens or closes in one worker does so in all.
 * @param succeeded classifies a reply that was neither canceled nor skipped.
 * @returns null when every setting is 0: the breaker is off.
 */
export function guard(
  site: BackendSite<BreakerConfig>,
  succeeded: (reply: Reply) => boolean,
): { readonly wrap: Wrap<PipeRequest>; readonly state: () => DataObject | null } | null {
  const { interval, timeout, max_errors: maxErrors, name, log_status_change: logged } = site.config;
  if (interval === 0 && timeout === 0 && maxErrors === 0) {
    site.warn('CIRCUIT_OFF', '', 'the breaker is off: interval, timeout and max_errors are all 0');
    return null;
  }
  const { log, endpoint, index, role } = site;
  const clock = site.use('clock');
  const events = site.use('events');
  const place = { method: endpoint.method, endpoint: endpoint.endpoint, backend: index };
  const settings: BreakerSettings = {
    clock,
    maxErrors,
    intervalMs: interval * 1000,
    openMs: (timeout || DEFAULT_OPEN_SECONDS) * 1000,
    changed(from, to) {
      if (logged) log.warning(`[CB] Circuit breaker named '${name}' went from '${from}' to '${to}'`);
      events.emit('breaker.changed', { name, from, to, ...place });
      if (to !== 'half-open') shared.change({ state: to, ageMs: 0, by: shared.value.id });
    },
  };
  const shared = site.mirror<Shared, Report>(placeOf(site), {
    open: () => ({ breaker: createBreaker(clock), id: randomUUID() }),
    apply({ breaker, id }, { by, ...turn }) {
      if (by !== id) follow(breaker, clock, turn);
    },
    snapshot({ breaker: { state, since }, id }) {
      return { state: state === 'closed' ? 'closed' : 'open', ageMs: clock.now() - since, by: id };
    },
  });
  const { breaker } = shared.value;
  log.debug(`[CB] Creating the circuit breaker named '${name}'`);

  const outcomeOf = (reply: Reply, call: Call): Outcome => {
    if (reply.skipped || isCancelled(reply, call)) return 'neither';
    return succeeded(reply) ? 'success' : 'failure';
  };
  const wrap: Wrap<PipeRequest> = (next) => (request, call) => {
    const ticket = enter(breaker, settings);
    if (ticket < 0) return Reply.failed(ticket === OPEN ? open : busy);
    // An exception counts as a failure: it is a bug, but it must not leave a half-open breaker waiting for its trial
    // call forever.
    const thrown = (error: unknown): never => {
      leave(breaker, settings, ticket, 'failure');
      throw error;
    };
    let reply: Reply | Promise<Reply>;
    try {
      reply = next(request, call);
    } catch (error) {
      return thrown(error);
    }
    if (reply instanceof Promise) {
      return reply.then((settled) => {
        leave(breaker, settings, ticket, outcomeOf(settled, call));
        return settled;
      }, thrown);
    }
    leave(breaker, settings, ticket, outcomeOf(reply, call));
    return reply;
  };
  // Each process that serves has a breaker of its own.
  return { wrap, state: () => (role === 'owner' ? null : stateOf(breaker, settings)) };
}

function stateOf({ state, since, failures }: Breaker, { clock, openMs, maxErrors }: BreakerSettings): DataObject {
  if (state === 'closed') return { state, consecutiveFailures: failures, toleratedFailures: maxErrors };
  return state === 'open' ? { state, nextTrialInMs: Math.max(0, Math.round(since + openMs - clock.now())) } : { state };
}

/** True when the client disconnected, or another of several concurrent calls responded first. */
function isCancelled(reply: Reply, call: Call): boolean {
  if (call.reason instanceof CancelledError) return true;
  return reply.errors.some((error) => error instanceof CancelledError);
}
