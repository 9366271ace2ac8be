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
  type Step,
  type TokenCheck,
  type Wrap,
} from '#contract';
import { RedisError } from '../../clients/redis/redis-error.ts';
import { type SettleUndecided, Undecided, undecidedSettler } from '../lib/undecided.ts';
import { type Agreement, agreement } from '../validator/agreement.ts';
import { type Judge, type Judgement, judge } from '../validator/judgement.ts';
import type { Propagation } from '../validator/propagate.ts';
import type { Activity } from './activity.ts';
import { type Cookies, takeCookies } from './cookies.ts';
import { asUndecided } from './exchange.ts';
import { beginLogin } from './login.ts';
import { measureRequests } from './measures.ts';
import type { Provider } from './provider.ts';
import type { EndpointConfig } from './schema.ts';
import { EARLY, type Session } from './session.ts';
import type { Found } from './sessions.ts';

type Served = Reply | Promise<Reply>;

/** Admits requests with a session, and redirects browsers without one to the login. */
export class Admission {
  readonly #provider: Provider;
  readonly #judge: Judge;
  readonly #agree: Agreement;
  readonly #settle: SettleUndecided;
  readonly #measure: ReturnType<typeof measureRequests>;
  readonly #log: Log;
  readonly #passes: boolean;
  readonly #challenge: string;
  /** Results of checking claims. Requests of the same session share its claims and their result. */
  readonly #judged = new WeakMap<Readonly<DataObject>, Judgement>();

  constructor(
    site: EndpointSite<EndpointConfig>,
    provider: Provider,
    checks: readonly TokenCheck[],
    propagation: Propagation,
  ) {
    this.#provider = provider;
    this.#log = site.log.at('[OIDC]');
    this.#judge = judge({ ...site.config, issuer: '' }, propagation);
    this.#agree = agreement(checks, this.#log);
    this.#settle = undecidedSettler(site.config, 'OIDC_FAILED', this.#log, site.use('clock'));
    this.#measure = measureRequests(site);
    this.#passes = site.config.pass_access_token;
    this.#challenge = `OIDC login_uri="${provider.base}${provider.path}/login"`;
  }

  readonly wrap: Wrap<ClientRequest> = (next) => (request, call) => {
    const { jar, sessions, activity } = this.#provider;
    const cookies = takeCookies(request.headers, jar.prefix);
    const handle = jar.session(cookies);
    if (handle === '') return this.#logIn(request, cookies, call);
    const session = sessions.find(handle, call);
    const serve = (found: Session | null): Served => {
      if (!found) return this.#logIn(request, cookies, call);
      let step = next;
      if (activity) {
        const idleMs = activity.idleFor(found, cookies);
        if (activity.isOver(idleMs)) return this.#logIn(request, cookies, call);
        if (activity.isDue(idleMs)) step = recording(next, activity, found);
      }
      if (!isExpired(found)) {
        this.#measure?.('cached', 0);
        return this.#accept(step, found, request, call);
      }
      return this.#renew(step, { handle, session: found }, request, cookies, call);
    };
    return session instanceof Promise ? session.then(serve, (error) => this.#undecided(error, call)) : serve(session);
  };

  async #logIn(request: ClientRequest, cookies: Cookies, call: Call): Promise<Reply> {
    const startedAt = performance.now();
    this.#measure?.('missing', startedAt);
    if (!opensPage(request)) {
      return refuse(401, {
        headers: new HeaderBag(['WWW-Authenticate', this.#challenge, 'Cache-Control', 'no-store']),
      });
    }
    const page = request.search === '' ? request.path : `${request.path}?${request.search}`;
    try {
      return await beginLogin(this.#provider, page, cookies, call);
    } catch (error) {
      return this.#undecided(error, call);
    }
  }

  async #renew(
    next: Step<ClientRequest>,
    found: Found,
    request: ClientRequest,
    cookies: Cookies,
    call: Call,
  ): Promise<Reply> {
    const startedAt = performance.now();
    let renewed: Found | null = null;
    try {
      if (found.session.refreshToken !== null) renewed = await this.#provider.refresher.refresh(found, call);
    } catch (error) {
      if (call.reason) return Reply.failed(call.reason as CallError);
      this.#measure?.('failed', startedAt);
      const refusal = this.#settle(
        error instanceof RedisError ? new Undecided(error.message, false) : asUndecided(error),
      );
      return refusal ?? this.#accept(next, found.session, request, call);
    }
    this.#measure?.(renewed ? 'refreshed' : 'ended', startedAt);
    if (!renewed) return this.#logIn(request, cookies, call);
    const reply = await this.#accept(next, renewed.session, request, call);
    if (renewed.handle === found.handle) return reply;
    const { jar, maxAge } = this.#provider;
    for (const line of jar.store(renewed.handle, maxAge, cookies)) reply.headers.append('Set-Cookie', line);
    reply.headers.set('Cache-Control', 'no-store');
    return reply;
  }

  #accept(next: Step<ClientRequest>, session: Session, request: ClientRequest, call: Call): Served {
    const { claims } = session;
    let judgement = this.#judged.get(claims);
    if (!judgement) {
      judgement = this.#judge(claims);
      this.#judged.set(claims, judgement);
    }
    const { misdirected, forbidden, headers } = judgement;
    const settle = (objection: string | null): Served => {
      const wrong = misdirected ?? forbidden ?? (objection === null ? null : `the check '${objection}' rejected it`);
      if (wrong !== null) {
        this.#log.debug(() => `session rejected: ${wrong}`);
        return refuse(403);
      }
      call.set(claimsSlot, claims);
      for (const [name, first, ...more] of headers) {
        request.headers.set(name, first!);
        for (const value of more) request.headers.append(name, value);
      }
      if (this.#passes) request.headers.set('Authorization', `Bearer ${session.accessToken}`);
      return next(request, call);
    };
    const objection = this.#agree(claims, request, call);
    return objection instanceof Promise ? objection.then(settle) : settle(objection);
  }

  /**
   * Converts a failure to a rejection. Unlike in other components, no failure accepts a request, because it would have
   * no session.
   */
  #undecided(error: unknown, call: Call): Reply {
    if (call.reason) return Reply.failed(call.reason as CallError);
    if (!(error instanceof RedisError || error instanceof Undecided)) throw error;
    return this.#settle(new Undecided(error.message, false)) ?? refuse(503);
  }
}

/** Records a request of a session in its response. */
function recording(next: Step<ClientRequest>, activity: Activity, session: Session): Step<ClientRequest> {
  return async (request, call) => {
    const reply = await next(request, call);
    reply.headers.append('Set-Cookie', activity.record(session));
    reply.headers.set('Cache-Control', 'no-store');
    return reply;
  };
}

function isExpired({ expires }: Session): boolean {
  return expires !== null && Date.now() / 1000 > expires - EARLY;
}

/** Whether a browser opens a page. Scripts and other clients are not redirected, because they cannot complete a login. */
function opensPage({ method, headers }: ClientRequest): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  if (headers.get('x-requested-with')?.toLowerCase() === 'xmlhttprequest') return false;
  const mode = headers.get('sec-fetch-mode');
  if (mode !== undefined && mode !== 'navigate') return false;
  return headers.getAll('accept').some((accept) => /\btext\/html\b/i.test(accept));
}
