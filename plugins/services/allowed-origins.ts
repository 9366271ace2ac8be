import { definePort, type Port } from '#contract';

/** Origins whose pages may use what is served. */
export interface AllowedOrigins {
  /** @param origin as a browser sent it. */
  has(origin: string): boolean;
}

/** What CORS says of origins, at an endpoint and at the root; for those who refuse what CORS alone would let run. */
export const allowedOrigins: Port<AllowedOrigins> = definePort('allowed origins');
