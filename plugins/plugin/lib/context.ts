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

/** What all modules leave for one another on one request. */
const stateSlot: Slot<Map<string, unknown>> = defineSlot('plugin state');
const idSlot: Slot<string> = defineSlot('request id');

/** What the modules of one request share; undefined while none has asked for it. */
export function knownStateOf(call: Call): Map<string, unknown> | undefined {
  return call.get(stateSlot);
}

/** What the modules of one request share. */
export function stateOf(call: Call): Map<string, unknown> {
  let state = call.get(stateSlot);
  if (!state) {
    state = new Map();
    call.set(stateSlot, state);
  }
  return state;
}

/** As of `Context.requestId`. */
export function requestIdOf(call: Call, { headers }: ClientRequest): string {
  let id = call.get(idSlot);
  if (id === undefined) {
    id = call.get(requestIdSlot) ?? (headers.get('x-request-id') || randomUUID());
    call.set(idSlot, id);
  }
  return id;
}

/** The context of a handler, read from the call. */
export class ContextView implements ModuleContext {
  readonly #call: Call;
  readonly #client: ClientRequest;

  constructor(call: Call, client: ClientRequest) {
    this.#call = call;
    this.#client = client;
  }

  /** The call it is for. */
  get [CALL](): Call {
    return this.#call;
  }

  /** Aborted when the client leaves or the time is over. */
  get signal(): AbortSignal {
    return this.#call.signal;
  }

  /** When the request is aborted, in milliseconds since 1970; infinite for never. */
  get deadline(): number {
    return Date.now() + this.#call.remainingMs;
  }

  /** Shared by all modules of one request. */
  get state(): Map<string, unknown> {
    return stateOf(this.#call);
  }

  /** The claims of the validated token; null without one. */
  get claims(): Readonly<DataObject> | null {
    return this.#call.get(claimsSlot) ?? null;
  }

  /** The client's address, after the trusted-proxy rule. */
  get clientIp(): string {
    return this.#client.ip;
  }

  /** What the client calls the request in `X-Request-Id`, else a random name: the same for all modules of a request. */
  get requestId(): string {
    return requestIdOf(this.#call, this.#client);
  }

  /** The trace that the request belongs to; null where nobody traces. */
  get span(): { readonly traceId: string; readonly spanId: string } | null {
    return this.#call.get(traceSlot) ?? null;
  }
}
