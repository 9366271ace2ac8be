import type { ClientRequest } from '#contract';
import type { AllowedOrigins } from '../../shared/ports/allowed-origins.ts';

export type AllowsOrigin = (request: ClientRequest) => boolean;

/**
 * Rejects requests from pages of other sites, which could otherwise use everything that the browser can reach.
 * @param allowed origins allowed by CORS. If undefined (CORS is not configured), the origin's host must equal the
 * request's host.
 */
export function originCheck(allowed: AllowedOrigins | undefined): AllowsOrigin {
  const isAllowed = (origin: string, host: string) =>
    allowed ? allowed.has(origin) : hostOf(origin) === host.toLowerCase();
  return ({ headers, host }) => headers.getAll('origin').every((origin) => isAllowed(origin, host));
}

/** Host of an origin, in the format of the `Host` header; null if the origin is invalid. */
function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null;
}
