import { createParser } from 'eventsource-parser';
import { CallError, type Data, type DataObject, discard, getKey, isObject, parsedMessage, type Reply } from '#contract';
import { bytesOf } from '../../../shared/calls/body.ts';

/** Maximum size of a response of an upstream server, in bytes. */
const MAX_BYTES = 4 * 1024 * 1024;

/** JSON-RPC error of an upstream server. */
export class RemoteError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Status of an upstream server that cannot carry a response. */
export class StatusError extends CallError {
  readonly status: number;

  constructor(status: number) {
    super('MCP_UPSTREAM', `status ${status}`);
    this.status = status;
  }
}

/**
 * Reads the response to a request, as JSON or from a stream of events, which is closed as soon as the response has
 * arrived.
 * @param notified receives the methods of notifications that precede the response.
 * @throws RemoteError for a JSON-RPC error; StatusError; CallError for anything that is not a response to the request.
 */
export async function readAnswer(reply: Reply, id: number, notified: (method: string) => void): Promise<DataObject> {
  const { status } = reply;
  if (!isReadable(status)) {
    discard(reply.body);
    throw new StatusError(status);
  }
  const isStream = /^text\/event-stream\b/i.test(reply.headers.get('content-type') ?? '');
  const message = isStream ? await fromEvents(reply, id, notified) : await fromJson(reply);
  const error = message && getKey(message, 'error');
  if (isObject(error)) {
    const [code, text] = [getKey(error, 'code'), getKey(error, 'message')];
    throw new RemoteError(typeof code === 'number' ? code : 0, typeof text === 'string' ? text : 'unknown error');
  }
  const result = message && getKey(message, 'id') === id ? getKey(message, 'result') : undefined;
  if (!isObject(result)) throw new CallError('MCP_UPSTREAM', 'the response does not contain the result of the request');
  return result;
}

/**
 * Whether the body can contain a message. The statuses 400 and 404 are included because JSON-RPC errors have them, too.
 */
function isReadable(status: number): boolean {
  return (status >= 200 && status <= 299) || status === 400 || status === 404;
}

/** @returns null for a body that is not a JSON object. */
async function fromJson(reply: Reply): Promise<DataObject | null> {
  const bytes = await bytesOf(reply, MAX_BYTES);
  if (bytes.length > MAX_BYTES) throw tooLarge();
  return read(new TextDecoder().decode(bytes));
}

/**
 * Reads the notifications of a stream without a response, until it ends.
 * @param notified receives their methods. @throws CallError for a stream that becomes too large, and for its failure.
 */
export async function readNotifications(reply: Reply, notified: (method: string) => void): Promise<void> {
  await fromEvents(reply, null, notified);
}

/** Whether a response is a stream of events. */
export function isEventStream({ status, headers }: Reply): boolean {
  return status === 200 && /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
}

/** @param id of the request whose response ends the reading; null for none. */
async function fromEvents(
  { body }: Reply,
  id: number | null,
  notified: (method: string) => void,
): Promise<DataObject | null> {
  let answer: DataObject | null = null;
  const parser = createParser({
    onEvent({ data }) {
      const message = read(data);
      if (message === null || answer !== null) return;
      const method = getKey(message, 'method');
      if (typeof method === 'string') notified(method);
      else if (id !== null && getKey(message, 'id') === id) answer = message;
    },
  });
  const decoder = new TextDecoder();
  let length = 0;
  const chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array> = body instanceof Uint8Array ? [body] : (body ?? []);
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > MAX_BYTES) throw tooLarge();
    parser.feed(decoder.decode(chunk, { stream: true }));
    if (answer !== null) break;
  }
  return answer;
}

function read(text: string): DataObject | null {
  let message: Data;
  try {
    message = parsedMessage(text);
  } catch {
    return null;
  }
  return isObject(message) ? message : null;
}

function tooLarge(): CallError {
  return new CallError('MCP_UPSTREAM', `the response is larger than ${MAX_BYTES} bytes`);
}
