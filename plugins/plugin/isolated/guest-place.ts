import { Readable } from 'node:stream';
import {
  type ByteSink,
  ByteStream,
  Call,
  CallError,
  claimsSlot,
  HeaderBag,
  type Line,
  makeRequest,
  PipeRequest,
  Query,
  type Receive,
  Reply,
  RequestBody,
  type Step,
  traceSlot,
  type Wrap,
} from '#contract';
import { knownStateOf, stateOf } from '../lib/context.ts';
import type { ModuleElement } from '../lib/module-form.ts';
import type { Named } from '../lib/place.ts';
import { type PipeKind, stages } from '../lib/stages.ts';
import { GuestSite, runSlot, type SentPlace } from './guest-site.ts';
import {
  bytesIn,
  copyOf,
  dataIn,
  fieldsOf,
  receiveState,
  SAME,
  type SentReply,
  type SentRequest,
  type SentState,
  sendReply,
  sendRequest,
  sendState,
  wholeBody,
} from './wire.ts';

/** One call of a handler, as sent to the thread. */
export interface SentRun {
  readonly run: number;
  readonly request: SentRequest;
  /** Reply to modify; null unless the handler is a response modifier. */
  readonly reply: SentReply | null;
  /** Remaining time in milliseconds; null for no limit. */
  readonly ms: number | null;
  readonly requestId: string;
  readonly client: { readonly method: string; readonly path: string; readonly search: string; readonly ip: string };
  readonly trace: { readonly traceId: string; readonly spanId: string } | null;
  /** Claims of the token as JSON text; null without claims. */
  readonly claims: string | null;
  readonly state: SentState;
}

/** Result of a run: a reply, or the request to continue with. */
export type RunResult = { readonly state: SentState } & (
  | { readonly reply: SentReply }
  | { readonly request: SentRequest }
);

/** Inner step of a request modifier: its reply is not used. */
const goOn = new Reply(200);

/** A body that is requested from the gateway on first read. */
class RequestedBody extends ByteStream {
  #open: (() => Readable) | null;

  constructor(open: () => Readable) {
    super({});
    this.#open = open;
  }

  override flow(sink: ByteSink): void {
    const readable = this.#open?.();
    this.#open = null;
    readable?.on('data', (chunk: Uint8Array) => this.write(chunk));
    readable?.once('end', () => this.end());
    readable?.once('error', (error) => this.fail(error));
    super.flow(sink);
  }
}

/** A handler of one endpoint, backend or the service, in the thread of its module. */
export class GuestPlace {
  readonly #elements: readonly ModuleElement[];
  readonly #file: string;
  readonly #line: Line;
  readonly #runs = new Map<number, Run>();
  #site: GuestSite | null = null;
  #kind: PipeKind = 'middleware';
  #step: Step<PipeRequest> | null = null;

  constructor(elements: readonly ModuleElement[], file: string, line: Line) {
    this.#elements = elements;
    this.#file = file;
    this.#line = line;
  }

  readonly receive: Receive = (operation, value) => {
    if (operation === 'run') return this.#run(value as SentRun);
    if (operation === 'cancel') return this.#runs.get(value as number)?.call.cancel();
    if (operation === 'make') return this.#make(value as SentPlace);
    if (operation === 'dispose') return this.#site?.dispose();
    throw new Error(`no such operation: ${operation}`);
  };

  /** @throws the ConfigErrors of `make`. */
  async #make(place: SentPlace): Promise<void> {
    const { name, kind, config, raw, namePointer } = place;
    const element = this.#elements.find((each) => each.name === name && kind in each.factories)!;
    const named = { entry: { ...element.factories, name, file: this.#file }, pointer: namePointer } as unknown as Named;
    const guestSite = new GuestSite(this.#line, place);
    this.#site = guestSite;
    this.#kind = kind as PipeKind;
    const wrap: Wrap<PipeRequest> = stages[this.#kind](guestSite.site, named, dataIn(config), raw);
    await guestSite.warmUp(AbortSignal.timeout(10_000));
    this.#step = wrap((request, call) => this.#runs.get(call.get(runSlot)!)!.next(request));
  }

  async #run(sent: SentRun): Promise<RunResult> {
    const run = new Run(sent, this.#line, this.#kind === 'requestModifier');
    this.#runs.set(sent.run, run);
    try {
      return await run.result(await Promise.race([this.#step!(run.request, run.call), run.givenUp]));
    } finally {
      this.#runs.delete(sent.run);
      run.end();
    }
  }
}

class Run {
  readonly call: Call;
  readonly request: PipeRequest;
  /** Rejects when the caller no longer waits: the handler may continue, but its result is ignored. */
  readonly givenUp: Promise<never>;
  readonly #sent: SentRun;
  readonly #line: Line;
  readonly #captures: boolean;
  readonly #body: RequestBody | null;
  /** Replies of the gateway with their original bodies. */
  readonly #replies = new Map<Reply, { readonly ref: number; readonly body: Reply['body'] }>();
  #state: SentState;
  #goneOn: PipeRequest | null = null;

  /** @param captures whether the result is the request with which the handler continues. */
  constructor(sent: SentRun, line: Line, captures: boolean) {
    const { run, request, ms, requestId, client, trace, claims, state } = sent;
    this.#sent = sent;
    this.#line = line;
    this.#captures = captures;
    this.call = new Call(undefined, ms ?? Number.POSITIVE_INFINITY);
    this.call.set(runSlot, run);
    this.givenUp = new Promise((_resolve, reject) => this.call.onCancel(reject));
    this.givenUp.catch(() => {});
    if (trace) this.call.set(traceSlot, trace);
    if (claims !== null) this.call.set(claimsSlot, dataIn(claims)!);
    this.#receiveState(state);
    this.#body = request.body === SAME ? RequestBody.stream(this.#bytes(null), undefined) : null;
    const headers = new HeaderBag(['X-Request-Id', requestId]);
    const query = new Query();
    for (const [name, values] of request.query) query.set(name, ...values);
    this.request = new PipeRequest(
      makeRequest({ ...client, headers }),
      { ...request.params },
      query,
      new HeaderBag([...request.headers]),
      this.#body,
    );
    const { method, origin, target, host } = request;
    Object.assign(this.request, { method, origin, target, host });
  }

  end(): void {
    this.call.finish();
    this.call.end({ status: 200, completed: true } as never);
  }

  readonly next = async (request: PipeRequest): Promise<Reply> => {
    if (this.#captures) {
      this.#goneOn = request;
      return goOn;
    }
    if (this.#sent.reply) return this.#received(this.#sent.reply);
    const value = { run: this.#sent.run, request: await this.#sendRequest(request), state: this.#sendState() };
    const { reply, state } = fieldsOf<{ reply: SentReply; state: SentState }>(await this.#line.ask('next', value));
    this.#receiveState(state);
    return this.#received(reply);
  };

  /** @throws CallError if the reply is an error. */
  async result(reply: Reply): Promise<RunResult> {
    if (this.#goneOn && reply === goOn)
      return { request: await this.#sendRequest(this.#goneOn), state: this.#sendState() };
    const known = this.#replies.get(reply);
    const [error] = reply.errors;
    if (!known && error) throw error;
    const { body } = reply;
    const sentBody = known && body === known.body ? SAME : body && copyOf(await wholeBody(body));
    return { reply: sendReply(reply, known?.ref ?? null, sentBody), state: this.#sendState() };
  }

  async #sendRequest(request: PipeRequest): Promise<SentRequest> {
    const { body } = request;
    return sendRequest(request, body === this.#body ? SAME : body && copyOf(await wholeBody(body)));
  }

  #received(sent: SentReply): Reply {
    const reply = new Reply(sent.status, new HeaderBag([...sent.headers]));
    reply.data = dataIn(sent.data);
    reply.complete = sent.complete;
    reply.skipped = sent.skipped;
    reply.errors = sent.errors.map((message) => new CallError('PLUGIN_NEXT', message));
    if (sent.upgrade) reply.upgrade = { take() {} };
    if (sent.body === SAME) reply.body = new RequestedBody(() => this.#bytes(sent.ref));
    this.#replies.set(reply, { ref: sent.ref!, body: reply.body });
    return reply;
  }

  /** Reads the body of the request or of a reply, which arrives in one piece on first read. */
  #bytes(ref: number | null): Readable {
    const line = this.#line;
    const { run } = this.#sent;
    return Readable.from(
      (async function* () {
        yield bytesIn(await line.ask('body', { run, ref }));
      })(),
      { objectMode: false },
    );
  }

  #sendState(): SentState {
    this.#state = sendState(knownStateOf(this.call));
    return this.#state;
  }

  #receiveState(state: SentState): void {
    receiveState(stateOf, this.call, this.#state, state);
    this.#state = state;
  }
}
