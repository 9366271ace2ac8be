import {
  type Call,
  type ClientRequest,
  claimsSlot,
  type EndpointSite,
  type Log,
  type Reply,
  refuse,
  type TokenCheck,
} from '#contract';
import { algorithm } from '../../clients/keys/algorithms.ts';
import type { Found, Keys } from '../../clients/keys/keys.ts';
import { type Agreement, agreement } from './agreement.ts';
import { readRegistered, untimely } from './claims.ts';
import { extractor } from './extract.ts';
import { type Judge, judge } from './judgement.ts';
import type { Propagation } from './propagate.ts';
import type { ValidatorConfig } from './schema.ts';
import { readClaims, type Token, tokenReader } from './token.ts';
import { nameOf, TokenCache, type Verified } from './token-cache.ts';

type Answer = Reply | undefined | Promise<Reply | undefined>;

/** Admits requests with a valid token, and stores its claims on the call. */
export class Validation {
  readonly #config: ValidatorConfig;
  readonly #keys: Keys;
  readonly #agree: Agreement;
  readonly #judge: Judge;
  readonly #log: Log;
  readonly #known: TokenCache<Verified>;
  readonly #read: ReturnType<typeof tokenReader>;
  readonly #extract: ReturnType<typeof extractor>;
  readonly #algorithm: ReturnType<typeof algorithm>;
  readonly #leeway: number;

  constructor(
    site: EndpointSite<ValidatorConfig>,
    keys: Keys,
    checks: readonly TokenCheck[],
    propagation: Propagation,
    log: Log,
  ) {
    const { config } = site;
    const { method, endpoint } = site.endpoint;
    this.#config = config;
    this.#keys = keys;
    this.#agree = agreement(checks, log);
    this.#judge = judge(config, propagation);
    this.#log = log;
    const cacheKey = ['tokens', method, endpoint, config.alg, config.key_identify_strategy];
    this.#known = site.keep(cacheKey, () => new TokenCache<Verified>());
    this.#extract = extractor(config.auth_header_name, config.cookie_key);
    this.#read = tokenReader(config.alg, config.key_identify_strategy);
    this.#algorithm = algorithm(config.alg);
    this.#leeway = config.leeway / 1000;
  }

  /** @returns the rejection; undefined if the request is admitted. */
  readonly admit = (request: ClientRequest, call: Call): Answer => {
    const text = this.#extract(request.headers);
    if (text === '') return this.#refuse(401, 'the token is missing');
    if (text === null) return this.#refuse(401, 'the token is too long');
    const name = nameOf(text);
    const known = this.#known.get(name);
    // The key may have changed since, so its ID is looked up for each request.
    if (known && this.#keys.find(known.keyId) === known.key) return this.#accept(known, request, call);
    const token = this.#read(text);
    if (typeof token === 'string') return this.#refuse(401, token);
    const key = this.#keys.find(token.keyId);
    if (!(key instanceof Promise)) return this.#verify(name, text.length, token, key, request, call);
    return untilGivenUp(key, call).then((match) => this.#verify(name, text.length, token, match, request, call));
  };

  #verify(name: string, length: number, token: Token, key: Found, request: ClientRequest, call: Call): Answer {
    if (!key) {
      const { failure } = this.#keys;
      return this.#refuse(
        401,
        failure === null ? 'the key of the token is unknown' : `the key of the token cannot be retrieved: ${failure}`,
      );
    }
    if (key.kind !== this.#algorithm.kind || !key.verifying)
      return this.#refuse(401, 'the key is not suitable for the algorithm of the token');
    if (!this.#algorithm.verify(token.signed, token.signature, key.verifying)) {
      return this.#refuse(401, 'the signature of the token is not valid');
    }
    const claims = readClaims(token.payload);
    if (typeof claims === 'string') return this.#refuse(401, claims);
    const times = readRegistered(claims);
    if (typeof times === 'string') return this.#refuse(401, times);
    const { keyId } = token;
    const verified: Verified = { keyId, key, claims, times, length, judgement: null };
    this.#known.set(name, verified);
    return this.#accept(verified, request, call);
  }

  #accept(verified: Verified, request: ClientRequest, call: Call): Answer {
    const { claims, times } = verified;
    if (verified.judgement?.by !== this.#judge) verified.judgement = this.#judge(claims);
    const wrong = verified.judgement.misdirected ?? untimely(times, Date.now() / 1000, this.#leeway);
    if (wrong !== null) return this.#refuse(401, wrong);
    const objection = this.#agree(claims, request, call);
    const settle = (name: string | null): Answer =>
      name === null ? this.#finish(verified, request, call) : this.#refuse(401, `the check '${name}' rejected it`);
    return objection instanceof Promise ? objection.then(settle) : settle(objection);
  }

  #finish({ claims, judgement }: Verified, request: ClientRequest, call: Call): Reply | undefined {
    const { forbidden, headers } = judgement!;
    if (forbidden !== null) return this.#refuse(403, forbidden);
    call.set(claimsSlot, claims);
    for (const [name, first, ...more] of headers) {
      request.headers.set(name, first!);
      for (const value of more) request.headers.append(name, value);
    }
    return undefined;
  }

  #refuse(status: number, why: string): Reply {
    if (this.#config.operation_debug) this.#log.error(`token refused: ${why}`);
    return refuse(status);
  }
}

/** Waits for a result, at most until the call ends. */
function untilGivenUp<T>(work: Promise<T>, call: Call): Promise<T | undefined> {
  return new Promise((resolve) => {
    const cancellation = call.onCancel(() => resolve(undefined));
    work.then((result) => {
      cancellation.off();
      resolve(result);
    });
  });
}
