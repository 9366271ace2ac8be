import type { PipeRequest, Step } from '#contract';
import type { AwsCredentials } from './sigv4.ts';

/** Credentials that may expire. */
export interface IssuedCredentials extends AwsCredentials {
  /** Milliseconds since 1970; undefined if they do not expire. */
  readonly expiresAt?: number | undefined;
}

/** Looks credentials up. @param send the HTTP client of the caller. */
export type LookUp = (send: Step<PipeRequest>) => Promise<IssuedCredentials>;

/** Time before their expiry at which credentials are renewed, in milliseconds. */
const EARLY_MS = 5 * 60_000;
/** Time after which credentials without an expiry are looked up again, in milliseconds: files change. */
const LOOKED_UP_MS = 5 * 60_000;
/** Time for which a failed lookup is cached, in milliseconds. */
const FAILED_MS = 1000;

/** Credentials that are looked up at first use, once for all concurrent callers, and again five minutes before they expire. */
export class RenewedCredentials {
  readonly #lookUp: LookUp;
  #found: Promise<IssuedCredentials> | null = null;
  #last: IssuedCredentials | null = null;
  #goodUntil = 0;

  constructor(lookUp: LookUp) {
    this.#lookUp = lookUp;
  }

  /** @param send the HTTP client of the caller. @throws BackendError AWS_CREDENTIALS */
  get(send: Step<PipeRequest>): Promise<AwsCredentials> {
    if (this.#found !== null && Date.now() < this.#goodUntil) return this.#found;
    this.#goodUntil = Number.POSITIVE_INFINITY;
    this.#found = this.#renew(send);
    return this.#found;
  }

  /** When renewal fails, the current credentials are used until they expire. */
  async #renew(send: Step<PipeRequest>): Promise<IssuedCredentials> {
    try {
      const found = await this.#lookUp(send);
      const { expiresAt } = found;
      const late = expiresAt === undefined ? Date.now() + LOOKED_UP_MS : expiresAt - EARLY_MS;
      this.#goodUntil = Math.max(late, Date.now() + FAILED_MS);
      this.#last = found;
      return found;
    } catch (error) {
      this.#goodUntil = Date.now() + FAILED_MS;
      if (Date.now() < (this.#last?.expiresAt ?? 0)) return this.#last!;
      throw error;
    }
  }
}
