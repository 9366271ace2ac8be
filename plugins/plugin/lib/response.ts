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

/** Headers that become invalid when a body is replaced. */
const ofBody = ['content-length', 'transfer-encoding'];

/**
 * A reply in the form that handlers see. For decoded replies, `data`, `isComplete` and `headers` apply; for raw bodies,
 * `io`, `statusCode` and `headers`.
 */
export class ResponseView implements PluginResponse {
  data: DataObject | null;
  isComplete: boolean;
  statusCode: number;
  headers: Headers;
  /** Body as a stream, readable once; null if the reply is decoded. Can be set to a text, bytes or a stream. */
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

  /** Returns the underlying reply. */
  static replyOf(response: ResponseView): Reply {
    return response.#reply;
  }

  /** Returns the body field; null without a body. */
  static fieldOf(response: ResponseView): BodyField | null {
    return response.#field;
  }
}

/** A response with the additional fields of response modifiers. */
export class ModifiedView extends ResponseView implements ModifiedResponse {
  /** The request of this response, read-only. */
  readonly request: RequestView;
  readonly context: ModuleContext;

  constructor(reply: Reply, request: PipeRequest, context: ModuleContext) {
    super(reply);
    this.request = new RequestView(request);
    this.context = context;
  }
}

/** Returns whether a handler can return a value as a response. */
export function isResponseLike(given: unknown): given is object {
  if (given instanceof ResponseView) return true;
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return false;
  return ['data', 'isComplete', 'statusCode', 'headers', 'io'].some((field) => Object.hasOwn(given, field));
}

type Fields = Partial<Record<'data' | 'isComplete' | 'statusCode' | 'headers' | 'io', unknown>>;

/**
 * Converts a handler's response to a reply.
 * @param given the handler's response: the one it received, changed or not, or a new one.
 * @param raw whether bodies are passed through undecoded.
 * @throws TypeError for an invalid status, data, headers or body.
 */
export function toReply(given: object, raw: boolean, call: Call): Reply {
  const { data, isComplete, statusCode, headers } = given as Fields;
  const isOwn = given instanceof ResponseView;
  const reply = isOwn ? ResponseView.replyOf(given) : new Reply(200, new HeaderBag());
  if (!isOwn) reply.complete = false;
  if (typeof headers === 'object' && headers !== null) writeHeaders(reply.headers, headers, !isOwn);
  if (!raw) {
    if (data !== undefined && data !== null && !isObject(data))
      throw new TypeError('the data of a response must be an object');
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

/** Keeps a body that was not replaced. */
function writeBody(reply: Reply, given: object, call: Call): void {
  const isOwn = given instanceof ResponseView;
  const field = isOwn ? ResponseView.fieldOf(given) : null;
  if (field?.isConsumed) throw new TypeError('the body was read and must be replaced');
  const io = (given as Fields).io as GivenBody;
  if (isOwn && (field ? !field.replacement : io === null)) return;
  reply.body = toReplyBody(io, call);
  reply.trailers = null;
  for (const name of ofBody) reply.headers.delete(name);
}
