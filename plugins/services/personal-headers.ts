import { definePort, type Offer, offer, type Port } from '#contract';

/** Says that any header may tell who asks, as where a script sets what it likes. */
export const ANY_HEADER = '*';

/**
 * Names of headers in requests to backends that may tell who asks: made of the claims of a token, or by a script. Whoever sets
 * such headers offers their names here, so that a cache never gives one user what was made for another.
 */
export const personalHeaders: Port<readonly string[]> = definePort('personal headers');

/** What is offered by whoever runs code of the operator's on requests. */
export const anyHeader: Offer = offer(personalHeaders, [ANY_HEADER]);
