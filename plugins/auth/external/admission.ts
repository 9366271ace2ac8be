import {
  before,
  type Call,
  type CallError,
  type ClientRequest,
  defineSlot,
  type EndpointSite,
  type PipeRequest,
  Reply,
  toCallError,
  type Wrap,
} from '#contract';
import { underOwnCall } from '../../shared/calls/own-call.ts';
import { type SettleUndecided, Undecided, undecided, undecidedSettler } from '../lib/undecided.ts';
import { type Accepted, change, type Decide, type Decision } from './decision.ts';
import { type DecisionCache, decisionCache } from './decision-cache.ts';
import { measureOf } from './measures.ts';
import type { ExternalConfig } from './schema.ts';

/** Lowercase names of the headers that only the authorization server can set. */
const namesSlot = defineSlot<ReadonlySet<string>>('external authorization');

/** Admits requests that the server accepts, with its changes. */
export class Admission {
  readonly #site: EndpointSite<ExternalConfig>;
  readonly #decide: Decide;
  readonly #cache: DecisionCache | null;
  readonly #settle: SettleUndecided;
  readonly #measure: ReturnType<typeof measureOf>;
  /** Lowercase names of headers that clients can never set, even if requests are accepted without a decision. */
  readonly #reserved: ReadonlySet<string>;

  constructor(site: EndpointSite<ExternalConfig>, decide: Decide) {
    const { config } = site;
    this.#site = site;
    this.#decide = decide;
    this.#cache = decisionCache(site);
    const log = site.log.at('[ExternalAuth]');
    this.#settle = undecidedSettler(config, 'EXTERNAL_FAILED', log, site.use('clock'));
    this.#measure = measureOf(site);
    this.#reserved = new Set(config.response_headers.map((name) => name.toLowerCase()));
  }

  /** Calls the authorization server before the request continues, and adds the server's headers to the response. */
  readonly endpoint: Wrap<ClientRequest> = (next) => async (request, call) => {
    const decision = await this.#decisionOn(request, call);
    if (decision instanceof Reply) return decision;
    const { headers } = request;
    const names = new Set(this.#reserved);
    for (const name of names) headers.delete(name);
    change(headers, decision.request);
    for (const { name } of decision.request) names.add(name.toLowerCase());
    call.set(namesSlot, names);
    const reply = await next(request, call);
    change(reply.headers, decision.response);
    return reply;
  };

  /** Backends receive the headers of the server even if the endpoint does not list them in `input_headers`. */
  readonly proxy = before<PipeRequest>(({ headers, client }, call) => {
    const names = call.get(namesSlot);
    if (!names || names.size === 0) return;
    // Similar headers of clients are removed, because some backends treat `_` and `.` as `-`.
    headers.filter((name) => !names.has(name) && !names.has(name.replace(/[_.]/g, '-')));
    for (const [name, value] of client.headers) if (names.has(name.toLowerCase())) headers.append(name, value);
  });

  async #decisionOn(request: ClientRequest, call: Call): Promise<Accepted | Reply> {
    const startedAt = performance.now();
    let body: Uint8Array | null = null;
    try {
      body = await this.#bodyOf(request);
    } catch (error) {
      return Reply.failed(toCallError(call.reason ?? error));
    }
    try {
      const key = this.#cache?.keyOf(request) ?? '';
      const known = this.#cache?.known(key);
      if (known) {
        this.#measure?.('cached', startedAt);
        return known;
      }
      const decision = await this.#ask(key, request, body, call);
      this.#measure?.(decision.accepted ? 'accepted' : 'rejected', startedAt);
      return decision.accepted ? decision : replyOf(decision);
    } catch (error) {
      // The error belongs to the client, which has disconnected, or to a request that has timed out.
      if (!(error instanceof Undecided)) return Reply.failed(error as CallError);
      this.#measure?.('failed', startedAt);
      return this.#settle(error) ?? unchecked;
    }
  }

  #bodyOf({ body }: ClientRequest): Uint8Array | null | Promise<Uint8Array> {
    const { forward_body: forwards, max_body_size: limit } = this.#site.config;
    if (!forwards || !body) return null;
    body.restrict(limit);
    return body.bytes();
  }

  async #ask(key: string, request: ClientRequest, body: Uint8Array | null, call: Call): Promise<Decision> {
    if (this.#cache) return this.#cache.share(key, call, (signal) => this.#askFor(request, body, signal));
    const part = call.fork(this.#site.config.timeout);
    try {
      return await this.#decide(request, body, part);
    } catch (error) {
      throw call.reason ?? undecided(error as Error);
    } finally {
      part.finish();
    }
  }

  /** Sends one authorization request on behalf of several client requests. */
  async #askFor(request: ClientRequest, body: Uint8Array | null, signal: AbortSignal): Promise<Decision> {
    const { config, log } = this.#site;
    try {
      return await underOwnCall(log, config.timeout, signal, (own) => this.#decide(request, body, own));
    } catch (error) {
      throw undecided(error as Error);
    }
  }
}

/** Result for a request that is accepted without a decision of the server. */
const unchecked: Accepted = { accepted: true, request: [], response: [], cacheableMs: 0 };

function replyOf({ status, headers, body }: Exclude<Decision, Accepted>): Reply {
  const reply = Reply.raw(status, headers, body);
  reply.complete = null;
  return reply;
}
