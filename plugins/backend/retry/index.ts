import {
  type AtBackend,
  atBackend,
  type BackendSite,
  type Call,
  CallError,
  CancelledError,
  definePlugin,
  meters,
  type PipeRequest,
  Reply,
  type RequestBody,
  tracerOf,
  tracers,
  type Wrap,
} from '#contract';
import { Attempts } from './attempts.ts';
import { checkSettings } from './check-settings.ts';
import { measuresOf } from './measures.ts';
import type { Policy } from './policy.ts';
import { type RetryConfig, schema } from './schema.ts';
import { recordSent } from './sent.ts';

const DEFAULT_STATUSES = [502, 503, 504];
const DEFAULT_GRPC_CODES = ['UNAVAILABLE'];

/** Ratio of the default maximum pause to the first pause. */
const LONGEST_PAUSE = 10;

/**
 * Repeats failed requests to a backend. Everything else at the backend runs once per attempt: each attempt takes a token
 * of the rate limit and counts for the circuit breaker, whose rejections are not retried. Never repeats a request after
 * its response has been used, which for undecoded responses is when the headers arrive.
 *
 * Configuration faults: RETRY_PROTOCOL, RETRY_IDEMPOTENT, RETRY_BACKOFF, RETRY_HEDGE, RETRY_NEVER; warning RETRY_IDLE.
 */
export const plugin = definePlugin({
  name: 'backend/retry',
  description: 'Repeats requests to a backend that failed, within a budget.',
  leaves: ['requests', 'data'],
  takes: [meters, tracers],
  places: [atBackend(schema, attach)],
});

function attach(site: BackendSite<RetryConfig>): AtBackend {
  checkSettings(site);
  const policy = policyOf(site);
  return { attempts: retrying(policy), transport: recordSent };
}

function policyOf(site: BackendSite<RetryConfig>): Policy {
  const { config, backend } = site;
  const { backoff } = config;
  return {
    conditions: new Set(config.conditions),
    statuses: new Set(config.status_codes ?? DEFAULT_STATUSES),
    grpcCodes: new Set<string>(config.grpc_codes ?? DEFAULT_GRPC_CODES),
    maxAttempts: config.attempts,
    attemptTimeoutMs: config.attempt_timeout ?? 0,
    hedgeAfterMs: config.hedge_after ?? 0,
    repeatsAll: config.non_idempotent,
    maxBodyBytes: config.max_body_size,
    pauses: { baseMs: backoff.base, maxMs: backoff.max ?? LONGEST_PAUSE * backoff.base },
    maxRetryAfterMs: config.max_retry_after,
    budget: config.budget,
    // The load is counted for each set of hosts, regardless of the endpoint that calls them.
    use: site.keep({ sd: backend.sd, hosts: [...new Set(backend.host)].sort() }, () => ({ active: 0, retries: 0 })),
    measures: measuresOf(site),
    tracer: tracerOf(site),
  };
}

function retrying(policy: Policy): Wrap<PipeRequest> {
  return (next) => (request, call) => {
    const send = () => new Promise<Reply>((resolve) => new Attempts(policy, next, request, call, resolve).begin());
    const kept = keep(request.body, policy.maxBodyBytes);
    return kept ? kept.then(send, (error) => unreadable(error, call)) : send();
  };
}

/** Buffers a body that is short enough to be sent again. Returns null if the request does not have to wait for its body. */
function keep(body: RequestBody | null, maxBytes: number): Promise<unknown> | null {
  if (!body?.length || body.length > maxBytes || body.isTooLarge || body.isTaken) return null;
  const bytes = body.bytes();
  return bytes instanceof Promise ? bytes : null;
}

/** Converts the error of a body that could not be read, because the client has disconnected or sent too much. */
function unreadable(error: unknown, call: Call): Reply {
  if (call.reason instanceof CallError) return Reply.failed(call.reason);
  return Reply.failed(error instanceof CallError ? error : new CancelledError());
}
