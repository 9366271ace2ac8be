import type { Readable } from 'node:stream';
import {
  type Call,
  type DataObject,
  type GivenBody,
  HeaderBag,
  isObject,
  type ModifiedResponse,
  type ModuleContext,
  type PipeRequest,
  type PluginResponse,
  Reply,
} from '#contract';
import { readableReply, toReplyBody } from './bodies.ts';
import { BodyField } from './body-field.ts';
import { type Headers, headersOf, writeHeaders } from './headers.ts';
import { RequestView } from './request.ts';

/** What a body that was replaced leaves behind. */
const ofBody = ['content-length', 'transfer-encoding'];

/**
 * A reply as handlers see it. Where it is decoded `data`, `isComplete` and `headers` count, where bytes pass undecoded
 * `io`, `statusCode` and `headers`.
 */
export class ResponseView implements PluginResponse {
  data: DataObject | null;
  isComplete: boolean;
  statusCode: number;
  headers: Headers;
  /** The bytes, which are there once; null where they are decoded. To be set to a text, to bytes or to a stream. */
  declare io: Readable | null;
  readonly #reply: Reply;
  readonly #field: BodyField | null = null;

  constructor(reply: Reply) {
    this.#reply = reply;
    this.data = reply.data;
    this.isComplete = reply.complete === true;
    this.statusCode = reply.status;
    this.headers = headersOf(reply.headers);
    const { body, data } = reply;
    if (data !== null || body === null) this.io = null;
    else this.#field = BodyField.define(this, 'io', () => readableReply(body));
  }

  /** What it stands for. */
  static replyOf(response: ResponseView): Reply {
    return response.#reply;
  }

  /** Its body; null where it has none. */
  static fieldOf(response: ResponseView): BodyField | null {
    return response.#field;
  }
}

/** What a response modifier gets besides. */
export class ModifiedView extends ResponseView implements ModifiedResponse {
  /** The request that was answered, to look at. */
  readonly request: RequestView;
  readonly context: ModuleContext;

  constructor(reply: Reply, request: PipeRequest, context: ModuleContext) {
    super(reply);
    this.request = new RequestView(request);
    this.context = context;
  }
}

/** True for what a handler may answer with. */
export function isResponseLike(given: unknown): given is object {
  if (given instanceof ResponseView) return true;
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return false;
  return ['data', 'isComplete', 'statusCode', 'headers', 'io'].some((field) => Object.hasOwn(given, field));
}

type Fields = Partial<Record<'data' | 'isComplete' | 'statusCode' | 'headers' | 'io', unknown>>;

/**
 * The reply that a handler has made.
 * @param given what it answered with: what it was given, changed or not, or something of its own.
 * @param raw bytes pass undecoded.
 * @throws TypeError for a status, data, headers or a body that can be none.
 */
export function toReply(given: object, raw: boolean, call: Call): Reply {
  const { data, isComplete, statusCode, headers } = given as Fields;
  const isOwn = given instanceof ResponseView;
  const reply = isOwn ? ResponseView.replyOf(given) : new Reply(200, new HeaderBag());
  if (!isOwn) reply.complete = false;
  if (typeof headers === 'object' && headers !== null) writeHeaders(reply.headers, headers, !isOwn);
  if (!raw) {
    if (data !== undefined && data !== null && !isObject(data))
      throw new TypeError('the data of a response is an object');
    reply.data = data ?? (isOwn ? null : {});
    if (typeof isComplete === 'boolean' && isComplete !== (reply.complete === true)) reply.complete = isComplete;
    return reply;
  }
  if (statusCode !== undefined && statusCode !== reply.status) {
    if (!Number.isInteger(statusCode) || (statusCode as number) < 200 || (statusCode as number) > 599) {
      throw new TypeError(`${String(statusCode).slice(0, 20)} is not a status from 200 to 599`);
    }
    reply.status = statusCode as number;
  }
  writeBody(reply, given, call);
  return reply;
}

/** A body that was not replaced stays what it is. */
function writeBody(reply: Reply, given: object, call: Call): void {
  const isOwn = given instanceof ResponseView;
  const field = isOwn ? ResponseView.fieldOf(given) : null;
  if (field?.isConsumed) throw new TypeError('the body was read and not replaced');
  const io = (given as Fields).io as GivenBody;
  if (isOwn && (field ? !field.replacement : io === null)) return;
  reply.body = toReplyBody(io, call);
  reply.trailers = null;
  for (const name of ofBody) reply.headers.delete(name);
}
