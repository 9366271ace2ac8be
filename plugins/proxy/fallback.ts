import {
  type Call,
  type CallError,
  discard,
  type Gather,
  mergeShallow,
  type PipeRequest,
  Reply,
  type Step,
} from '#contract';
import { attempt, gathered, inTime, isWhole } from './attempt.ts';

export interface FallbackOptions {
  /** Maximum duration of all attempts together, in milliseconds. */
  readonly budgetMs: number;
  /** For each backend, in order: true when its bytes are passed through unread. */
  readonly raw: readonly boolean[];
}

/**
 * Calls the next backend only if the previous one failed or responded incompletely, each with its own copy of the
 * request. The first complete reply is the result, without the errors of the backends before it, which are logged.
 */
export function fallback(options: FallbackOptions): Gather {
  return {
    name: 'fallback',
    over: (backends) => (request, call) => {
      const chain = call.fork(options.budgetMs);
      return firstWhole(backends, request, chain, options.raw).finally(() => chain.finish());
    },
  };
}

async function firstWhole(
  backends: readonly Step<PipeRequest>[],
  request: PipeRequest,
  chain: Call,
  raw: readonly boolean[],
): Promise<Reply> {
  let errors: readonly CallError[] = [];
  let last: Reply | null = null;
  for (const [at, backend] of backends.entries()) {
    if (last !== null && chain.reason) break;
    const reply = await inTime(attempt(backend, request.copy(), chain), chain);
    if (reply.skipped) continue;
    if (isWhole(reply, raw[at]!)) return gathered([reply], true, mergeShallow);
    if (last !== null) discard(last.body);
    last = reply;
    errors = [...errors, ...reply.errors];
    // A client that disconnects is not a failure of the backend, so nothing is logged.
    if (at < backends.length - 1 && !chain.reason) warnOf(reply, at, chain);
  }
  if (last === null) return Reply.data({}, false);
  last.errors = errors;
  return last;
}

function warnOf({ errors, status }: Reply, at: number, { log }: Call): void {
  const reason = errors.map(({ message }) => message).join(', ') || `incomplete response with status ${status}`;
  log.warning(`[Fallback] backend ${at} failed: ${reason}`);
}
