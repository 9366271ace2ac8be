import type { ClientRequest } from '#contract';
import type { AllowedOrigins } from '../../services/allowed-origins.ts';

export type AllowsOrigin = (request: ClientRequest) => boolean;

/**
 * Keeps pages of other sites out, which could otherwise use what a browser may reach.
 * @param allowed of CORS; undefined where it is not configured: then a page may be of the host that it asks.
 */
export function originCheck(allowed: AllowedOrigins | undefined): AllowsOrigin {
  const isAllowed = (origin: string, host: string) =>
    allowed ? allowed.has(origin) : hostOf(origin) === host.toLowerCase();
  return ({ headers, host }) => headers.getAll('origin').every((origin) => isAllowed(origin, host));
}

/** As `Host` has it; null for what is no origin. */
function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null;
}
