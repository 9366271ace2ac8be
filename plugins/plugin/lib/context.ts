import { randomUUID } from 'node:crypto';
import {
  type Call,
  type ClientRequest,
  claimsSlot,
  type DataObject,
  defineSlot,
  type ModuleContext,
  requestIdSlot,
  type Slot,
  traceSlot,
} from '#contract';
import { CALL } from './host-tracer.ts';

/** State that the modules of a request share. */
const stateSlot: Slot<Map<string, unknown>> = defineSlot('plugin state');
const idSlot: Slot<string> = defineSlot('request id');

/** Returns the shared state of a request; undefined if no module has accessed it yet. */
export function knownStateOf(call: Call): Map<string, unknown> | undefined {
  return call.get(stateSlot);
}

/** Returns the shared state of a request. */
export function stateOf(call: Call): Map<string, unknown> {
  let state = call.get(stateSlot);
  if (!state) {
    state = new Map();
    call.set(stateSlot, state);
  }
  return state;
}

/** Returns the id of a request, as described at `Context.requestId`. */
export function requestIdOf(call: Call, { headers }: ClientRequest): string {
  let id = call.get(idSlot);
  if (id === undefined) {
    id = call.get(requestIdSlot) ?? (headers.get('x-request-id') || randomUUID());
    call.set(idSlot, id);
  }
  return id;
}

/** Context of a handler, backed by the call. */
export class ContextView implements ModuleContext {
  readonly #call: Call;
  readonly #client: ClientRequest;

  constructor(call: Call, client: ClientRequest) {
    this.#call = call;
    this.#client = client;
  }

  /** The gateway's call object of the request. */
  get [CALL](): Call {
    return this.#call;
  }

  /** Aborted when the client disconnects or the time limit is reached. */
  get signal(): AbortSignal {
    return this.#call.signal;
  }

  /** Time at which the request is aborted, in milliseconds since 1970; `Infinity` for never. */
  get deadline(): number {
    return Date.now() + this.#call.remainingMs;
  }

  /** State that all modules of one request share. */
  get state(): Map<string, unknown> {
    return stateOf(this.#call);
  }

  /** Claims of the validated token; null without one. */
  get claims(): Readonly<DataObject> | null {
    return this.#call.get(claimsSlot) ?? null;
  }

  /** The client's address, after the trusted-proxy rule. */
  get clientIp(): string {
    return this.#client.ip;
  }

  /** The client's `X-Request-Id`, or a random id: the same for all modules of a request. */
  get requestId(): string {
    return requestIdOf(this.#call, this.#client);
  }

  /** Trace of the request; null if tracing is off. */
  get span(): { readonly traceId: string; readonly spanId: string } | null {
    return this.#call.get(traceSlot) ?? null;
  }
}
