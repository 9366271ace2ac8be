import type { DataObject } from '../values/data.ts';
import type { Call } from './call.ts';
import type { ClientRequest } from './client-request.ts';
import { definePort, type Port } from './port.ts';

/** An additional check of validated tokens: the signature, times and audience are already verified. */
export interface TokenCheck {
  /** Reason of a rejection in the log, in one word, for example `revoked`. */
  readonly name: string;
  /**
   * Called for every request with a token, after its times and before its roles are checked. The claims are frozen and
   * shared by all requests with the same token.
   * @returns false to reject the request with 401. Exceptions reject it as well.
   */
  check(claims: Readonly<DataObject>, request: ClientRequest, call: Call): boolean | Promise<boolean>;
}

/** Checks of tokens, for example for revocation. All must pass, outermost first. */
export const tokenChecks: Port<TokenCheck> = definePort('token checks');
