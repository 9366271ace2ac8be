import { hash, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Call, CallError, type Clock, definePort } from '#contract';
import type { Comparing, Comparisons } from './comparisons.ts';
import type { Users } from './users.ts';

/** User name and password sent by a client. */
interface Credentials {
  readonly name: string;
  readonly password: string;
}

const scheme = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i;

/** Time for which a correct password is cached, in milliseconds. */
const REMEMBERED_MS = 60_000;
/** Maximum number of cached passwords per worker, at about 200 bytes each. */
const MAX_REMEMBERED = 10_000;

/** Reason for a rejection. @see Authority.admit */
export interface Refused {
  /** Reason for the log. Contains the name only of existing users. */
  readonly reason: string;
  /**
   * Error of the gateway, if the client is not at fault. The reply then does not say that the credentials are wrong.
   */
  readonly error?: CallError;
}

/** The user's name, or the rejection. */
export type Admission = string | Refused;

interface Remembered {
  readonly name: string;
  readonly until: number;
}

interface Pending extends Comparing {
  waiting: number;
}

const busy: Refused = {
  reason: 'too many passwords are being compared',
  error: new CallError('BASIC_BUSY', 'too many passwords are being compared', { view: { status: 503 } }),
};
const none: Refused = { reason: 'no credentials' };
const unknown: Refused = { reason: 'unknown user' };

/** Authenticates the users of one list. */
export class Authority {
  readonly size: number;
  readonly #users: Users;
  readonly #hashes: readonly string[];
  readonly #comparisons: Comparisons;
  readonly #clock: Clock;
  /** Random secret of the process and this set of users, so that cached fingerprints reveal nothing about passwords. */
  readonly #secret = randomBytes(32).toString('base64');
  readonly #remembered = new LRUCache<string, Remembered>({ max: MAX_REMEMBERED });
  readonly #pending = new Map<string, Pending>();

  constructor(users: Users, comparisons: Comparisons, clock: Clock) {
    this.size = users.size;
    this.#users = users;
    this.#hashes = [...users.values()];
    this.#comparisons = comparisons;
    this.#clock = clock;
  }

  /** @param header the client's `Authorization` header. @param client its address. */
  admit(header: string | undefined, call: Call, client: string | null = null): Admission | Promise<Admission> {
    if (header === undefined) return none;
    const fingerprint = hash('sha256', this.#secret + header, 'base64');
    const remembered = this.#remembered.get(fingerprint);
    if (remembered && this.#clock.now() < remembered.until) return remembered.name;
    const credentials = readCredentials(header);
    return credentials ? this.#compare(credentials, fingerprint, call, client) : none;
  }

  /** Compares a password. Concurrent requests with the same credentials share one comparison. */
  #compare(
    { name, password }: Credentials,
    fingerprint: string,
    call: Call,
    client: string | null,
  ): Admission | Promise<Admission> {
    const known = this.#users.get(name);
    let pending = this.#pending.get(fingerprint);
    if (!pending) {
      const comparing = this.#comparisons.compare(password, known ?? this.#decoyHash(name), client);
      if (!comparing) return busy;
      pending = { ...comparing, waiting: 0 };
      this.#pending.set(fingerprint, pending);
      const over = (): void => void this.#pending.delete(fingerprint);
      comparing.result.then(over, over);
    }
    const isRight = this.#wait(pending, fingerprint, call);
    return isRight.then((right): Admission => {
      if (right instanceof CallError) return { reason: right.message, error: right };
      if (known === undefined) return unknown;
      if (!right) return { reason: `wrong password of "${name}"` };
      this.#remembered.set(fingerprint, { name, until: this.#clock.now() + REMEMBERED_MS });
      return name;
    });
  }

  /**
   * Returns the hash of an existing user to compare an unknown user's password with. A name always results in the same
   * hash, so that response times do not reveal which users exist.
   */
  #decoyHash(name: string): string {
    const at = Number.parseInt(hash('sha256', this.#secret + name).slice(0, 8), 16);
    return this.#hashes[at % this.#hashes.length]!;
  }

  /** Waits for the comparison, at most until the call ends. */
  #wait(pending: Pending, fingerprint: string, call: Call): Promise<boolean | CallError> {
    pending.waiting++;
    return new Promise((resolve) => {
      const cancellation = call.onCancel((reason) => {
        pending.waiting--;
        if (pending.waiting === 0 && this.#pending.get(fingerprint) === pending) {
          pending.drop();
          this.#pending.delete(fingerprint);
        }
        resolve(reason as CallError);
      });
      const settle = (result: boolean | CallError): void => {
        cancellation.off();
        resolve(result);
      };
      pending.result.then(settle, settle);
    });
  }
}

export const basicAuthority = definePort<Authority>('basic users');

/** Parses the credentials of an `Authorization` header; null if it has none. */
function readCredentials(header: string | undefined): Credentials | null {
  const encoded = header && scheme.exec(header)?.[1];
  if (!encoded) return null;
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  if (colon < 1 || text.includes('\0')) return null;
  return { name: text.slice(0, colon), password: text.slice(colon + 1) };
}
