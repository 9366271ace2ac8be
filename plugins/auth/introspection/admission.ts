import {
  type Call,
  type CallError,
  type ClientRequest,
  claimsSlot,
  type DataObject,
  type EndpointSite,
  HeaderBag,
  type Log,
  Reply,
  refuse,
  type TokenCheck,
} from '#contract';
import { type SettleUndecided, Undecided, undecidedSettler } from '../lib/undecided.ts';
import { type Agreement, agreement } from '../validator/agreement.ts';
import { untimely } from '../validator/claims.ts';
import { type Judge, type Judgement, judge } from '../validator/judgement.ts';
import type { Propagated, Propagation } from '../validator/propagate.ts';
import { nameOf } from '../validator/token-cache.ts';
import type { Answer } from './answer.ts';
import type { Introspector } from './introspector.ts';
import { measureOf } from './measures.ts';
import type { IntrospectionConfig } from './schema.ts';
import { type ReadToken, tokenReader } from './token.ts';

type Admitted = Reply | undefined | Promise<Reply | undefined>;

/** Admits requests whose token is active and has the required properties, and stores its claims on the call. */
export class Admission {
  readonly #introspector: Introspector;
  readonly #read: ReadToken;
  readonly #judge: Judge;
  readonly #agree: Agreement;
  readonly #settle: SettleUndecided;
  readonly #measure: ReturnType<typeof measureOf>;
  readonly #log: Log;
  readonly #leeway: number;
  readonly #insufficient: string;
  readonly #unknown: readonly Propagated[];
  /** Results of checking claims. Requests with the same token share its claims and their result. */
  readonly #judged = new WeakMap<Readonly<DataObject>, Judgement>();

  constructor(
    site: EndpointSite<IntrospectionConfig>,
    introspector: Introspector,
    checks: readonly TokenCheck[],
    propagation: Propagation,
  ) {
    const { config } = site;
    this.#log = site.log.at('[Introspection]');
    this.#introspector = introspector;
    this.#read = tokenReader(config);
    this.#judge = judge(config, propagation);
    this.#agree = agreement(checks, this.#log);
    this.#settle = undecidedSettler(config, 'INTROSPECTION_FAILED', this.#log, site.use('clock'));
    this.#measure = measureOf(site);
    this.#leeway = config.leeway / 1000;
    this.#unknown = propagation.of({});
    const scope = config.scopes.filter((one) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(one)).join(' ');
    this.#insufficient = `Bearer error="insufficient_scope"${scope === '' ? '' : `, scope="${scope}"`}`;
  }

  /** @returns the rejection; undefined if the request is admitted. */
  readonly admit = (request: ClientRequest, call: Call): Admitted => {
    const token = this.#read(request, call);
    if (token === '') return this.#refuse(401, 'Bearer', 'the token is missing');
    if (token === null) return this.#invalid('the token is too long, or has invalid characters');
    const name = nameOf(token);
    const known = this.#introspector.known(name);
    if (!known) return this.#ask(name, token, request, call);
    this.#measure?.('cached', 0);
    return this.#accept(known, request, call);
  };

  async #ask(name: string, token: string, request: ClientRequest, call: Call): Promise<Reply | undefined> {
    const startedAt = performance.now();
    let answer: Answer;
    try {
      answer = await this.#introspector.ask(name, token, call);
    } catch (error) {
      // The error belongs to the client, which has disconnected, or to a request that has timed out.
      if (!(error instanceof Undecided)) return Reply.failed(error as CallError);
      this.#measure?.('failed', startedAt);
      const refusal = this.#settle(error);
      if (!refusal) propagate(this.#unknown, request.headers);
      return refusal;
    }
    this.#measure?.(answer.claims ? 'active' : 'inactive', startedAt);
    return this.#accept(answer, request, call);
  }

  #accept({ claims, times }: Answer, request: ClientRequest, call: Call): Admitted {
    if (!claims) return this.#invalid('the token is not active');
    let judgement = this.#judged.get(claims);
    if (!judgement) {
      judgement = this.#judge(claims);
      this.#judged.set(claims, judgement);
    }
    const wrong = judgement.misdirected ?? untimely(times, Date.now() / 1000, this.#leeway);
    if (wrong !== null) return this.#invalid(wrong);
    const { forbidden, headers } = judgement;
    const settle = (objection: string | null): Reply | undefined => {
      if (objection !== null) return this.#invalid(`the check '${objection}' rejected it`);
      if (forbidden !== null) return this.#refuse(403, this.#insufficient, forbidden);
      call.set(claimsSlot, claims);
      propagate(headers, request.headers);
      return undefined;
    };
    const objection = this.#agree(claims, request, call);
    return objection instanceof Promise ? objection.then(settle) : settle(objection);
  }

  #invalid(why: string): Reply {
    return this.#refuse(401, 'Bearer error="invalid_token"', why);
  }

  #refuse(status: number, challenge: string, why: string): Reply {
    this.#log.debug(() => `token rejected: ${why}`);
    return refuse(status, { headers: new HeaderBag(['WWW-Authenticate', challenge]) });
  }
}

function propagate(propagated: readonly Propagated[], headers: HeaderBag): void {
  for (const [name, first, ...more] of propagated) {
    headers.set(name, first!);
    for (const value of more) headers.append(name, value);
  }
}
