import { definePort, type Offer, offer, type Port } from '#contract';

/** Marks any header as possibly identifying the user, for example when a script can set any header. */
export const ANY_HEADER = '*';

/**
 * Names of headers in backend requests that may identify the user: created from the claims of a token, or by a script.
 * Components that set such headers offer their names through this port, so that a cache never serves one user's
 * response to another.
 */
export const personalHeaders: Port<readonly string[]> = definePort('personal headers');

/** Offer of components that run scripts of the operator, which can set any header of a request. */
export const anyHeader: Offer = offer(personalHeaders, [ANY_HEADER]);
