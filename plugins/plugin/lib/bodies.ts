import { Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import { ByteStream, type Call, type GivenBody, RequestBody } from '#contract';

/** Default maximum size of a body that `text` and `json` read into memory, in bytes. */
export const BUFFER_LIMIT_BYTES = 1024 * 1024;

/** Wraps the body of a request in a stream, which takes the body on first read. */
export function readableRequest(body: RequestBody): Readable {
  return quiet(
    Readable.from(
      (async function* () {
        const taken = body.take();
        if (taken instanceof Uint8Array) yield taken;
        else yield* taken as AsyncIterable<Uint8Array>;
      })(),
      { objectMode: false },
    ),
  );
}

/** Wraps the body of a reply in a stream, which takes the body on first read. */
export function readableReply(body: Uint8Array | ByteStream): Readable {
  return quiet(body instanceof ByteStream ? body.readable() : Readable.from([body], { objectMode: false }));
}

/** @throws TypeError for an invalid body. */
export function toRequestBody(given: GivenBody, call: Call): RequestBody | null {
  if (given === null || given === undefined) return null;
  if (typeof given === 'string' || given instanceof Uint8Array) return RequestBody.of(given);
  return RequestBody.stream(streamOf(given, call), undefined);
}

/** @throws TypeError for an invalid body. */
export function toReplyBody(given: GivenBody, call: Call): Uint8Array | ByteStream | null {
  if (given === null || given === undefined) return null;
  if (typeof given === 'string') return Buffer.from(given);
  return given instanceof Uint8Array ? given : ByteStream.from(streamOf(given, call));
}

/** Wraps a body in a stream that does not outlive the call and whose errors only reach its reader. */
function streamOf(given: Exclude<GivenBody, string | Uint8Array | null | undefined>, call: Call): Readable {
  const stream = toReadable(given);
  call.onEnd(() => stream.destroy());
  return quiet(stream);
}

function toReadable(given: object): Readable {
  if (given instanceof Readable) {
    if (given.readableObjectMode || given.readableEncoding)
      throw new TypeError('the stream of a body must consist of bytes');
    return given;
  }
  if (given instanceof ReadableStream) return Readable.fromWeb(given);
  if (Symbol.asyncIterator in given) return Readable.from(given as AsyncIterable<unknown>, { objectMode: false });
  throw new TypeError('a body must be a string, bytes or a stream of bytes');
}

/** Ignores errors that no reader of the stream receives, so that they do not end the process. */
function quiet(stream: Readable): Readable {
  return stream.on('error', ignored);
}

function ignored(): void {}
