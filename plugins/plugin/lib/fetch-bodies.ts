import { Readable } from 'node:stream';
import { ReadableStream, type ReadableStreamDefaultReader } from 'node:stream/web';
import { ByteStream, type Call, RequestBody } from '#contract';

/** Returns the unread body of a `fetch` request. */
export function bodyOfMessage({ body }: Request, call: Call): RequestBody | null {
  if (!body) return null;
  const stream = Readable.fromWeb(body as ReadableStream);
  // The error is ignored here, because readers of the stream receive it.
  stream.on('error', () => {});
  call.onEnd(() => stream.destroy());
  return RequestBody.stream(stream, undefined);
}

/** Wraps bytes that are requested on first read in a stream. */
export function streamOf(open: () => AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  let bytes: AsyncIterator<Uint8Array> | null = null;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        bytes ??= open()[Symbol.asyncIterator]();
        const { done, value } = await bytes.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        bytes ??= open()[Symbol.asyncIterator]();
        await bytes.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/** Returns the bytes of a `fetch` response. */
export function bytesOf(body: globalThis.ReadableStream): ByteStream {
  const reader = (body as ReadableStream).getReader() as ReadableStreamDefaultReader<Uint8Array>;
  let isWanted = true;
  const pump = async (): Promise<void> => {
    isWanted = true;
    try {
      while (isWanted) {
        const { done, value } = await reader.read();
        if (done) return stream.end();
        if (!(value instanceof Uint8Array)) throw new TypeError('the body of a response must consist of bytes');
        isWanted = stream.write(value);
      }
    } catch (error) {
      stream.fail(error as Error);
    }
  };
  const stream = new ByteStream({
    resume: () => void pump(),
    cancel: (reason) => {
      isWanted = false;
      reader.cancel(reason).catch(() => {});
    },
  });
  void pump();
  return stream;
}
