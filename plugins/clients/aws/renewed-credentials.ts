import type { PipeRequest, Step } from '#contract';
import type { AwsCredentials } from './sigv4.ts';

/** Credentials that may expire. */
export interface IssuedCredentials extends AwsCredentials {
  /** Expiry, in milliseconds since 1970; undefined if the credentials do not expire. */
  readonly expiresAt?: number | undefined;
}

/** Looks credentials up. @param send the HTTP client of the caller. */
export type LookUp = (send: Step<PipeRequest>) => Promise<IssuedCredentials>;

/** Time before their expiry at which credentials are renewed, in milliseconds. */
const EARLY_MS = 5 * 60_000;
/** Time after which credentials without an expiry are looked up again, in milliseconds, because files can change. */
const LOOKED_UP_MS = 5 * 60_000;
/** Time for which a failed lookup is cached, in milliseconds. */
const FAILED_MS = 1000;

/** Credentials that are looked up at first use, once for all concurrent callers, and again five minutes before they expire. */
export class RenewedCredentials {
  readonly #lookUp: LookUp;
  #found: Promise<IssuedCredentials> | null = null;
  #last: IssuedCredentials | null = null;
  /** Start of the period in which the credentials are used, in milliseconds since 1970. A clock that is set back to before the lookup also ends the period. */
  #goodFrom = 0;
  #goodUntil = 0;

  constructor(lookUp: LookUp) {
    this.#lookUp = lookUp;
  }

  /** @param send the HTTP client of the caller. @throws BackendError AWS_CREDENTIALS */
  get(send: Step<PipeRequest>): Promise<AwsCredentials> {
    const now = Date.now();
    if (this.#found !== null && now >= this.#goodFrom && now < this.#goodUntil) return this.#found;
    this.#isGood(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);
    this.#found = this.#renew(send);
    return this.#found;
  }

  /** When renewal fails, the current credentials are used until they expire. */
  async #renew(send: Step<PipeRequest>): Promise<IssuedCredentials> {
    try {
      const found = await this.#lookUp(send);
      const { expiresAt } = found;
      const now = Date.now();
      const late = expiresAt === undefined ? now + LOOKED_UP_MS : expiresAt - EARLY_MS;
      this.#isGood(now, Math.max(late, now + FAILED_MS));
      this.#last = found;
      return found;
    } catch (error) {
      const now = Date.now();
      this.#isGood(now, now + FAILED_MS);
      if (now < (this.#last?.expiresAt ?? 0)) return this.#last!;
      throw error;
    }
  }

  #isGood(from: number, until: number): void {
    this.#goodFrom = from;
    this.#goodUntil = until;
  }
}
