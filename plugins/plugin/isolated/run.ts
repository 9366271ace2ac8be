import {
  type ActiveSpan,
  type Call,
  claimsSlot,
  discard,
  HeaderBag,
  type PipeRequest,
  printJson,
  Reply,
  RequestBody,
  type Step,
  traceSlot,
} from '#contract';
import { knownStateOf, requestIdOf, stateOf } from '../lib/context.ts';
import type { RunResult, SentRun } from './guest-place.ts';
import {
  assignHeaders,
  bytesIn,
  copyOf,
  dataIn,
  fieldsOf,
  receiveState,
  SAME,
  type SentReply,
  type SentState,
  sendReply,
  sendRequest,
  sendState,
  wholeBody,
  writeReceived,
} from './wire.ts';

/** Number of times that one handler can continue a request. */
const MOST_REPLIES = 100;

/** One request at a handler that runs in a thread: the data sent to the thread, and the operations that it can request. */
export class IsolatedRun {
  readonly id: number;
  readonly call: Call;
  readonly spans = new Map<number, ActiveSpan>();
  readonly #request: PipeRequest;
  readonly #next: Step<PipeRequest> | null;
  /** Replies of the inner stages, by number. */
  readonly #replies: Reply[] = [];
  #state: SentState;
  #isOver = false;

  /** @param next null if the handler cannot continue the request. */
  constructor(id: number, request: PipeRequest, call: Call, next: Step<PipeRequest> | null) {
    this.id = id;
    this.call = call;
    this.#request = request;
    this.#next = next;
  }

  /** Creates the message for the thread. @param reply the reply to modify. */
  start(reply: Reply | null): SentRun {
    const { call } = this;
    const request = this.#request;
    const { client } = request;
    const { remainingMs } = call;
    const claims = call.get(claimsSlot);
    const trace = call.get(traceSlot);
    this.#state = sendState(knownStateOf(call));
    return {
      run: this.id,
      request: sendRequest(request, request.body && SAME),
      reply: reply && this.#sendReply(reply),
      ms: Number.isFinite(remainingMs) ? Math.max(0, remainingMs) : null,
      requestId: requestIdOf(call, client),
      client: { method: client.method, path: client.path, search: client.search, ip: client.ip },
      trace: trace ? { traceId: trace.traceId, spanId: trace.spanId } : null,
      claims: claims ? printJson(claims as never) : null,
      state: this.#state,
    };
  }

  /** Continues the request on behalf of the handler. */
  async next(value: unknown): Promise<{ reply: SentReply; state: SentState }> {
    const { request, state } = fieldsOf<{ request: unknown; state: unknown }>(value);
    if (!this.#next || this.#isOver) throw new Error('the handler can no longer continue the request');
    if (this.#replies.length >= MOST_REPLIES)
      throw new Error(`a handler can continue a request at most ${MOST_REPLIES} times`);
    this.#receiveState(state);
    const copy = this.#request.copy();
    this.#write(copy, request);
    const reply = await this.#next(copy, this.call);
    if (this.#isOver) discard(reply.body);
    this.#state = sendState(knownStateOf(this.call));
    return { reply: this.#sendReply(reply), state: this.#state };
  }

  /** Reads the whole body of the request or of a reply, which then stays in memory. */
  async body(value: unknown): Promise<Uint8Array> {
    const { ref } = fieldsOf<{ ref: number | null }>(value);
    if (ref === null) return copyOf(await wholeBody(this.#request.body ?? new Uint8Array()));
    const reply = this.#replies[ref];
    if (!reply?.body) throw new Error('unknown body');
    const bytes = await wholeBody(reply.body);
    reply.body = bytes;
    return copyOf(bytes);
  }

  /** Converts the handler's result: a reply, or null if the changed request continues. @throws TypeError for anything else. */
  finish(given: unknown): Reply | null {
    const result = fieldsOf<RunResult & { reply?: unknown; request?: unknown }>(given);
    this.#receiveState(result.state);
    if (result.request !== undefined) {
      this.#write(this.#request, result.request);
      this.end(null);
      return null;
    }
    const reply = this.#replyOf(fieldsOf<SentReply>(result.reply));
    this.end(reply);
    return reply;
  }

  /** Ends the run and discards the inner replies whose bodies are not part of the response. */
  end(answer: Reply | null): void {
    this.#isOver = true;
    for (const reply of this.#replies) if (!answer || reply.body !== answer.body) discard(reply.body);
  }

  /** Ends a failed run. Inner replies are kept until the call ends, because one may still become the response. */
  fail(): void {
    this.#isOver = true;
    this.call.onEnd(() => this.end(null));
  }

  #sendReply(reply: Reply): SentReply {
    const ref = this.#replies.push(reply) - 1;
    return sendReply(reply, ref, reply.data === null && reply.body ? SAME : null);
  }

  #replyOf({ ref, status, headers, data, complete, body }: SentReply): Reply {
    const own = ref === null ? null : this.#replies[ref];
    if (own === undefined) throw new TypeError('unknown reply');
    const reply = own ?? new Reply(200, new HeaderBag());
    if (status !== reply.status) {
      if (!Number.isInteger(status) || status < 200 || status > 599)
        throw new TypeError('the response status is not valid');
      reply.status = status;
    }
    assignHeaders(reply.headers, headers);
    reply.data = dataIn(data);
    if (complete === null || typeof complete === 'boolean') reply.complete = complete;
    if (body === SAME || (own && body === null && own.body === null)) return reply;
    reply.body = bytesIn(body);
    reply.trailers = null;
    return reply;
  }

  #write(request: PipeRequest, sent: unknown): void {
    writeReceived(request, sent);
    const { body } = fieldsOf<{ body: unknown }>(sent);
    if (body === SAME) return;
    const bytes = bytesIn(body);
    request.body = bytes && RequestBody.of(bytes);
  }

  #receiveState(state: unknown): void {
    receiveState(stateOf, this.call, this.#state, state);
  }
}
