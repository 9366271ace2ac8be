import { CallError, type Clock, type Log, type Reply, refuse, type Schema } from '#contract';
import { limitedWarning } from '../../shared/logging/limited-warning.ts';

/** Schema fields that define the handling of requests on which a server has not decided. @param allow, status their descriptions. */
export const failureFieldsFor = (allow: string, status: string) =>
  ({
    on_failure_allow: { type: 'boolean', description: allow, default: false },
    on_failure_status: { type: 'integer', minimum: 400, maximum: 599, description: status, default: 503 },
  }) as const satisfies Record<string, Schema>;

/** The same fields, for components with a single server that decides on requests. */
export const failureFields = failureFieldsFor(
  'Accepts requests while the server is unreachable, exceeds the timeout, or responds with 502, 503 or 504. Any other invalid response still rejects the request.',
  'Response status of requests that are rejected because the server made no decision.',
);

/** Indicates that a server did not respond with a decision. */
export class Undecided extends Error {
  /** Whether the server was not reached, or is not available. Clients must not be able to cause such an error. */
  readonly isOutage: boolean;

  constructor(message: string, isOutage: boolean) {
    super(message);
    this.isOutage = isOutage;
  }
}

/** Codes of calls that did not reach the server, or received no response in time. */
const outages = new Set([
  ...['BACKEND_REFUSED', 'BACKEND_RESET', 'BACKEND_UNREACHABLE', 'BACKEND_DNS', 'BACKEND_CONNECT_TIMEOUT'],
  ...['BACKEND_HEADER_TIMEOUT', 'BACKEND_PROXY', 'CALL_DEADLINE'],
]);

/** Converts the error of a call to the server. */
export function undecided(error: Error): Undecided {
  const isOutage = error instanceof CallError && outages.has(error.code);
  return error instanceof Undecided ? error : new Undecided(error.message, isOutage);
}

/** Creates the error for a status that is not a decision. */
export function undecidedStatus(status: number): Undecided {
  return new Undecided(`status ${status}`, status >= 502 && status <= 504);
}

interface FailureConfig {
  readonly on_failure_allow: boolean;
  readonly on_failure_status: number;
}

/** Decides on a request for which the server made no decision. Returns the rejection; undefined accepts the request. */
export type SettleUndecided = (error: Undecided) => Reply | undefined;

/** @param code of the error that rejects a request. */
export function undecidedSettler(
  { on_failure_allow: allows, on_failure_status: status }: FailureConfig,
  code: string,
  log: Log,
  clock: Clock,
): SettleUndecided {
  const warn = limitedWarning(log, clock);
  return (error) => {
    const isAllowed = allows && error.isOutage;
    warn(() =>
      isAllowed ? `a request is accepted unchecked: ${error.message}` : `a request is rejected: ${error.message}`,
    );
    return isAllowed ? undefined : refuse(status, { error: new CallError(code, error.message) });
  };
}
