import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { type AccessRecord, type Call, type HeaderBag, maskQuery, requestIdSlot, servedSlot } from '#contract';
import type { HttpRequest } from './client-request.ts';

/** Data known only at the end of a request. */
type Ending = Pick<AccessRecord, 'latencyMs' | 'status' | 'errors' | 'route' | 'completed' | 'bytesOut'>;

/**
 * A finished request, as the access log sees it. Properties computed on demand are accessors of the class: V8 allocates
 * objects with their own accessors in the old generation, which keeps the request alive until the next full collection.
 */
export class FinishedRequest implements AccessRecord {
  readonly endedAt = Date.now();
  readonly latencyMs: number;
  readonly status: number;
  readonly errors: AccessRecord['errors'];
  readonly endpoint: string | null;
  readonly route: AccessRecord['route'];
  readonly completed: boolean;
  readonly bytesOut: number | undefined;
  readonly call: Call | null;
  readonly handledBy: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly requestId: string | undefined;
  readonly host: string;
  readonly ip: string;
  readonly secure: boolean;
  readonly httpVersion: string;
  readonly #request: HttpRequest;
  readonly #message: IncomingMessage;

  constructor(request: HttpRequest, message: IncomingMessage, call: Call | null, ending: Ending) {
    this.latencyMs = ending.latencyMs;
    this.status = ending.status;
    this.errors = ending.errors;
    this.route = ending.route;
    this.endpoint = ending.route?.endpoint ?? null;
    this.completed = ending.completed;
    this.bytesOut = ending.bytesOut;
    this.call = call;
    this.method = request.method;
    const served = call?.get(servedSlot);
    this.path = served?.path ?? request.path;
    this.search = maskQuery(served?.search ?? request.search);
    this.handledBy = served?.handledBy;
    this.requestId = call?.get(requestIdSlot);
    this.host = request.host;
    this.ip = request.ip;
    this.secure = request.secure;
    this.httpVersion = message.httpVersion;
    this.#request = request;
    this.#message = message;
  }

  get requestHeaders(): HeaderBag {
    return this.#request.headers;
  }

  get certificate(): AccessRecord['certificate'] {
    return this.#request.certificate;
  }

  get tls(): AccessRecord['tls'] {
    if (!this.secure) return null;
    const socket = this.#message.socket as TLSSocket;
    const protocol = socket.getProtocol();
    const cipher = protocol && socket.getCipher();
    return cipher ? { protocol, cipher: cipher.standardName } : null;
  }
}
