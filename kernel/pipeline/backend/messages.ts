import {
  BackendError,
  ByteStream,
  type Call,
  type DataObject,
  discard,
  type EachMessage,
  type MessageHook,
  type Messages,
  type PipeRequest,
  Reply,
  type Step,
  toCallError,
} from '#contract';
import { unpacked } from './unpack.ts';

/** Functions that read the messages of one backend's streams. */
export interface Looking {
  readonly messages: Messages;
  /** The backend's own data shaping; null for none. */
  readonly shape: ((data: DataObject) => DataObject) | null;
  /** Hooks that run after the shaping, in order. */
  readonly hooks: readonly MessageHook[];
}

/** Headers that describe the backend's bytes, which are not sent to the client. */
const ofTheBytes = new Set([
  'content-length',
  'content-encoding',
  'content-md5',
  'content-digest',
  'repr-digest',
  'digest',
  'etag',
  'accept-ranges',
]);

/**
 * Splits a stream into messages and reassembles it, instead of the decoder. Only a 200 is a stream of messages; any
 * other response passes unchanged. The request asks the backend for uncompressed bytes; a compressed response is
 * decompressed nevertheless.
 */
export function withMessages(looking: Looking, transport: Step<PipeRequest>): Step<PipeRequest> {
  return (request, call) => {
    request.headers.set('Accept-Encoding', 'identity');
    const reply = transport(request, call);
    return reply instanceof Promise
      ? reply.then((raw) => takeApart(raw, looking, request, call))
      : takeApart(reply, looking, request, call);
  };
}

function takeApart(reply: Reply, looking: Looking, request: PipeRequest, call: Call): Reply {
  const { body, headers } = reply;
  if (reply.status !== 200 || reply.errors.length > 0 || body === null) return reply;
  const plain = unpacked(body instanceof ByteStream ? body : streamOf(body), headers.get('content-encoding'));
  if (plain === null) {
    discard(body);
    const text = `backend: unknown Content-Encoding ${JSON.stringify(headers.get('content-encoding'))}`;
    return Reply.failed(new BackendError('BACKEND_ENCODING', text));
  }
  const said = headers.get('content-type') ?? 'no Content-Type';
  headers.filter((name) => !ofTheBytes.has(name));
  headers.set('Content-Type', looking.messages.contentType);
  if (!headers.has('cache-control')) headers.append('Cache-Control', 'no-cache');
  if (!headers.has('x-accel-buffering')) headers.append('X-Accel-Buffering', 'no');
  reply.body = rewritten(plain, looking.messages, eachMessage(looking, request, call), () => {
    call.log.warning(
      `the response contains no message: its Content-Type is ${said}, but it is read as ${looking.messages.contentType}`,
    );
  });
  return reply;
}

function streamOf(bytes: Uint8Array): ByteStream {
  const stream = new ByteStream();
  stream.write(bytes);
  stream.end();
  return stream;
}

/** Returns a function that shapes a message and passes it to every hook; null when there is nothing to do. */
function eachMessage({ shape, hooks }: Looking, request: PipeRequest, call: Call): EachMessage | null {
  if (shape === null && hooks.length === 0) return null;
  let warned = false;
  return (data) => {
    try {
      let left: DataObject | null = shape ? shape(data) : data;
      for (const hook of hooks) {
        left = hook(left, request, call);
        if (left === null) return null;
      }
      return left;
    } catch (error) {
      if (!warned) call.log.warning(`message dropped: ${error instanceof Error ? error.message : error}`);
      warned = true;
      return null;
    }
  };
}

/**
 * Returns the stream for the client: each message as soon as it is complete, no faster than the client reads.
 * @param onNone called at the end of a response that had bytes but no messages.
 */
function rewritten(body: ByteStream, messages: Messages, each: EachMessage | null, onNone: () => void): ByteStream {
  const output = new ByteStream({ resume: () => body.resume(), cancel: (reason) => body.cancel(reason) });
  let wanted = true;
  let broken = false;
  let isFilled = false;
  let isRead = false;
  const seen: EachMessage | null =
    each &&
    ((data) => {
      isRead = true;
      return each(data);
    });
  const reader = messages.open(seen, (bytes) => {
    isRead = true;
    wanted = output.write(bytes);
  });
  const breakOff = (error: unknown): void => {
    const failure = toCallError(error);
    broken = true;
    body.cancel(failure);
    output.fail(failure);
  };
  body.flow({
    write(chunk) {
      if (broken) return true;
      isFilled = true;
      wanted = true;
      try {
        reader.write(chunk);
      } catch (error) {
        breakOff(error);
      }
      return wanted;
    },
    end() {
      if (broken) return;
      try {
        reader.end();
      } catch (error) {
        breakOff(error);
        return;
      }
      if (isFilled && !isRead) onNone();
      output.end();
    },
    fail: (error) => output.fail(error),
  });
  return output;
}
