import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Call,
  CallError,
  type ClientRequest,
  defineSlot,
  discard,
  type Encoding,
  HandlerError,
  hasKeys,
  printJson,
  Reply,
  type RequestChanges,
  refuse,
  type ServerHandler,
  type ServerNext,
  type ServerRequest,
  type Slot,
  type Step,
  servedSlot,
  toCallError,
  type Wrap,
} from '#contract';
import { stateOf } from './context.ts';
import { noAnswer } from './failure.ts';
import { bodyOfMessage } from './fetch-bodies.ts';
import { takeHeaders } from './fetch-headers.ts';
import { gatewayRequest, hasUnseenHeaders } from './fetch-request.ts';
import { NoResponse, Responses } from './fetch-response.ts';
import { CALL } from './host-tracer.ts';
import type { Made } from './make.ts';
import { elsewhere, type SyncTime } from './sync-time.ts';

/** Additional fields of server requests. */
interface ServerFields extends Pick<ServerRequest, 'raw' | 'originalPath' | 'state'> {
  readonly [CALL]: Call;
}

const calls = new AsyncLocalStorage<ServerCall>();

/** The client's address, after the trusted-proxy rule. @throws Error outside of a request. */
export function clientIp(): string {
  const call = calls.getStore();
  if (!call) throw new Error('host.clientIp can only be used while a request is handled');
  return call.client.ip;
}

/** Settings of the service or endpoint whose server handler runs. */
export interface ServerStance {
  readonly made: Made<ServerHandler>;
  readonly time: SyncTime;
  readonly encoding: (name: string) => Encoding | undefined;
}

/** Wraps every request of the gateway in a handler. */
export function aroundService(stance: ServerStance): Wrap<ClientRequest> {
  return (next) => (client, call) => new ServerCall(stance, next, client, call).run();
}

/** Path as sent by the client, which the outermost handler receives. */
const originalPath: Slot<string> = defineSlot('original path');

/** One request on its way through a handler. */
class ServerCall {
  readonly client: ClientRequest;
  readonly #stance: ServerStance;
  readonly #next: Step<ClientRequest>;
  readonly #call: Call;
  readonly #responses = new Responses();
  #requested: ServerRequest | null = null;
  #wentOn = false;
  /** The gateway's last response. */
  #inner: Reply | null = null;

  constructor(stance: ServerStance, next: Step<ClientRequest>, client: ClientRequest, call: Call) {
    this.#stance = stance;
    this.#next = next;
    this.client = client;
    this.#call = call;
  }

  async run(): Promise<Reply> {
    const requested = this.#makeRequest();
    // Responds with 405 to a method that `fetch` requests cannot have, because no endpoint accepts it.
    if (!requested) return refuse(405);
    this.#requested = requested;
    const { made, time } = this.#stance;
    try {
      const response = await calls.run(this, () => time.run(() => made.handle(requested, this.#goOn)));
      if (!this.#wentOn) this.#call.set(servedSlot, { ...this.#call.get(servedSlot), handledBy: made.name });
      const reply = this.#responses.take(response);
      this.#drop();
      if (reply !== this.#inner && reply.body !== null) reply.complete = this.#inner?.complete ?? null;
      return reply;
    } catch (error) {
      // Responses of the gateway are kept until the call ends, because one of them may still become the final response.
      this.#call.onEnd(() => this.#drop());
      if (error instanceof CallError) throw error;
      if (error instanceof NoResponse) throw noAnswer(error.given);
      throw new HandlerError('PLUGIN_ERROR', '', { cause: error });
    }
  }

  #drop(): void {
    for (const rest of this.#responses.rest()) discard(rest.body);
  }

  /** Passes the request on to the gateway. */
  readonly #goOn: ServerNext = (given = this.#requested!) => {
    this.#wentOn = true;
    return elsewhere(() => this.#send(given));
  };

  async #send(given: Request): Promise<Response> {
    const request = this.#changed(given);
    const reply = await this.#next(request, this.#call);
    this.#inner = reply;
    try {
      writeData(reply, request, this.#stance.encoding);
    } catch (error) {
      this.#inner = Reply.failed(toCallError(error));
    }
    return this.#responses.add(this.#inner);
  }

  /** Converts the request that a handler passes on to a gateway request. */
  #changed(given: Request): ClientRequest {
    const { client } = this;
    const requested = this.#requested!;
    const headers = client.headers.copy();
    if (!(given === requested && hasUnseenHeaders(given))) takeHeaders(headers, given.headers);
    const changes: { -readonly [K in keyof RequestChanges]: RequestChanges[K] } = { headers };
    if (given !== requested) {
      if (given.method !== requested.method) changes.method = given.method;
      if (given.url !== requested.url) {
        const { host, pathname, search } = new URL(given.url);
        changes.path = pathname;
        changes.search = search.slice(1);
        if (host !== new URL(requested.url).host) changes.host = host;
        this.#call.set(servedSlot, { path: pathname, search: changes.search });
      }
      if (given.body !== requested.body || given.bodyUsed) changes.body = bodyOfMessage(given, this.#call);
    }
    return client.with(changes);
  }

  #makeRequest(): ServerRequest | null {
    const { client } = this;
    const { secure, host, path, search, raw } = client;
    const scheme = secure ? 'https' : 'http';
    const target = `${path.startsWith('/') ? '' : '/'}${path}${search === '' ? '' : `?${search}`}`;
    const call = this.#call;
    const original = call.get(originalPath) ?? path;
    if (original === path) call.set(originalPath, path);
    const fields: ServerFields = {
      raw,
      originalPath: original,
      get state() {
        return stateOf(call);
      },
      [CALL]: call,
    };
    for (const origin of [`${scheme}://${host}`, `${scheme}://localhost`]) {
      if (!URL.canParse(origin + target)) continue;
      try {
        return Object.defineProperties(
          gatewayRequest(origin + target, client, call),
          Object.getOwnPropertyDescriptors(fields),
        ) as ServerRequest;
      } catch {
        return null;
      }
    }
    return null;
  }
}

/** Encodes the data of a reply as its endpoint does, so that handlers receive bytes. Paths of the gateway itself use JSON. */
function writeData(reply: Reply, request: ClientRequest, encodingOf: ServerStance['encoding']): void {
  const { data } = reply;
  if (!data) return;
  const endpoint = request.match();
  const encoding = endpoint ? encodingOf(endpoint.output_encoding) : undefined;
  if (endpoint && !encoding?.encode) return;
  const written = encoding?.encode?.(data, request.headers.get('accept'));
  const { body, contentType } = written ?? { body: printJson(data), contentType: 'application/json; charset=utf-8' };
  if (!reply.headers.has('content-type')) reply.headers.set('Content-Type', contentType);
  reply.body = typeof body === 'string' ? Buffer.from(body) : body;
  reply.data = null;
  if (endpoint && !hasKeys(data) && reply.complete) reply.complete = false;
}
