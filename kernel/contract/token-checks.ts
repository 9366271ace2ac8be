import type { DataObject } from '../values/data.ts';
import type { Call } from './call.ts';
import type { ClientRequest } from './client-request.ts';
import { definePort, type Port } from './port.ts';

/** What the token validator knows of a token when others are asked about it: it is signed, in time, and meant for us. */
export interface TokenCheck {
  /** For the log: what refused a token, in a word, as in `revoked`. */
  readonly name: string;
  /**
   * Called for every request with a token, between its times and its roles. The claims are frozen, and shared by all requests
   * with the same token.
   * @returns false to refuse the request with 401. What it throws refuses, too.
   */
  check(claims: Readonly<DataObject>, request: ClientRequest, call: Call): boolean | Promise<boolean>;
}

/** Checks of tokens, such as of those that were revoked: every one must agree, outermost first. */
export const tokenChecks: Port<TokenCheck> = definePort('token checks');
