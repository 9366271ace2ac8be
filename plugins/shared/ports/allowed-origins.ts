import { definePort, type Port } from '#contract';

/** Origins whose pages may use the served resources. */
export interface AllowedOrigins {
  /** @param origin value of the `Origin` header, as the browser sent it. */
  has(origin: string): boolean;
}

/** Origins that CORS allows, at an endpoint and at the root; for components that reject what CORS alone would let through. */
export const allowedOrigins: Port<AllowedOrigins> = definePort('allowed origins');
