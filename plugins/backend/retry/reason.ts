import { CancelledError, type Reply } from '#contract';
import { GrpcError, nameOf } from '../../engines/grpc/status.ts';
import type { Condition } from './schema.ts';
import type { Sent } from './sent.ts';

/** Reason for another attempt. */
export type Reason = Condition | 'status' | 'grpc' | 'hedge';

/** Replies that are retried. */
export interface Retriable {
  readonly conditions: ReadonlySet<Condition>;
  readonly statuses: ReadonlySet<number>;
  readonly grpcCodes: ReadonlySet<string>;
}

/** Error code of an attempt that took longer than its timeout. */
export const ATTEMPT_TIMEOUT = 'BACKEND_ATTEMPT_TIMEOUT';

const conditionOf: ReadonlyMap<string, Condition> = new Map([
  ['BACKEND_REFUSED', 'connect_failure'],
  ['BACKEND_UNREACHABLE', 'connect_failure'],
  ['BACKEND_DNS', 'connect_failure'],
  ['BACKEND_CONNECT_TIMEOUT', 'connect_failure'],
  ['BACKEND_TLS', 'connect_failure'],
  ['BACKEND_PROXY', 'connect_failure'],
  ['BACKEND_RESET', 'reset'],
  ['BACKEND_HEADER_TIMEOUT', 'timeout'],
  [ATTEMPT_TIMEOUT, 'timeout'],
]);

/**
 * Codes of failures that occur before anything is sent. Failures of TLS and proxies are excluded, because they can also
 * occur later.
 */
const unsent: ReadonlySet<string> = new Set([
  'BACKEND_REFUSED',
  'BACKEND_UNREACHABLE',
  'BACKEND_DNS',
  'BACKEND_CONNECT_TIMEOUT',
]);

/** Reason to retry after a reply; null for a reply that is used. A cancellation is never a reason. */
export function reasonToRetry(reply: Reply, { conditions, statuses, grpcCodes }: Retriable): Reason | null {
  for (const error of reply.errors) {
    if (error instanceof CancelledError) return null;
    if (error instanceof GrpcError) return grpcCodes.has(nameOf(error.status)) ? 'grpc' : null;
    const condition = conditionOf.get(error.code);
    if (condition !== undefined && conditions.has(condition)) return condition;
  }
  const status = reply.upstreamStatus;
  return status !== undefined && statuses.has(status) ? 'status' : null;
}

/** Whether the backend cannot have received any request of a failed attempt. */
export function isUnsent({ errors }: Reply, { times, isRedirected }: Sent): boolean {
  return times === 1 && !isRedirected && errors.length === 1 && unsent.has(errors[0]!.code);
}
