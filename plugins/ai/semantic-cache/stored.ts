import { ByteStream, type DataObject, HeaderBag, parseExact, printJson, Reply } from '#contract';

/** Maximum size of a response that is stored, in bytes. */
const MAX_RESPONSE_BYTES = 1024 * 1024;

/** Serialized form of a response. Either `data` or `base64` is set. */
interface Stored {
  readonly contentType: string | null;
  readonly complete: boolean | null;
  readonly data?: string;
  readonly base64?: string;
}

/** Whether a response may be stored: complete, successful, and not meant for one client. */
function isStorable({ status, errors, skipped, upgrade, trailers, headers, complete, data }: Reply): boolean {
  if (status !== 200 || errors.length > 0 || skipped || upgrade || trailers) return false;
  if (data !== null && complete !== true) return false;
  if (headers.has('set-cookie') || headers.has('vary')) return false;
  if (/\b(?:no-store|no-cache|private)\b/i.test(headers.getAll('cache-control').join())) return false;
  return /^(?:identity)?$/i.test(headers.get('content-encoding')?.trim() ?? '');
}

/** Passes a response that may be stored to `keep`, once it is complete. Streams are not delayed. */
export function storing(reply: Reply, keep: (stored: string) => void): void {
  if (!isStorable(reply)) return;
  const contentType = reply.headers.get('content-type') ?? null;
  const save = (stored: Stored) => keep(JSON.stringify(stored));
  const { data, body, complete } = reply;
  if (data !== null) {
    const text = printJson(data);
    if (text.length <= MAX_RESPONSE_BYTES) save({ contentType, complete, data: text });
  } else if (body instanceof ByteStream) {
    collect(body, (bytes) => save({ contentType, complete, base64: bytes.toString('base64') }));
  } else if (body && body.length <= MAX_RESPONSE_BYTES) {
    save({ contentType, complete, base64: Buffer.from(body).toString('base64') });
  }
}

/** Copies a stream as its reader receives it. Stores nothing if the stream fails, is canceled, or is too long. */
function collect(stream: ByteStream, done: (bytes: Buffer) => void): void {
  let chunks: Uint8Array[] | null = [];
  let length = 0;
  const forget = () => {
    chunks = null;
  };
  stream.tap({
    write(chunk) {
      length += chunk.length;
      if (length > MAX_RESPONSE_BYTES) forget();
      chunks?.push(Uint8Array.from(chunk));
    },
    end() {
      if (chunks) done(Buffer.concat(chunks));
    },
    fail: forget,
  });
}

/** A new reply from a stored response. */
export function replyOf(stored: string): Reply {
  const { contentType, complete, data, base64 } = JSON.parse(stored) as Stored;
  const reply =
    data === undefined
      ? Reply.raw(200, new HeaderBag(), Buffer.from(base64!, 'base64'))
      : Reply.data(parseExact(data) as DataObject);
  reply.complete = complete;
  if (contentType !== null) reply.headers.set('Content-Type', contentType);
  reply.headers.set('X-Semantic-Cache', 'hit');
  return reply;
}
