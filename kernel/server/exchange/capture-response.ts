import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Sample } from './sample.ts';

/** Parts of a response, collected as it is written. */
export interface CapturedResponse {
  /** Stops collecting and releases the bytes. */
  drop(): void;
  /** The response; null once dropped, and before its head was written. */
  readonly response: Sample['response'] | null;
}

const none = new Uint8Array();

type Untyped = (this: unknown, ...args: unknown[]) => unknown;

/**
 * Collects the head and the body of a response. The functions of this one response are replaced, so that responses that
 * are not captured cost nothing.
 * @param limitBytes longer bodies are omitted. @param onHead receives the content type.
 */
export function captureResponse(
  response: ServerResponse,
  limitBytes: number,
  onHead: (contentType: string) => void,
): CapturedResponse {
  const methods = response as unknown as Record<'writeHead' | 'write' | 'end', Untyped>;
  const { writeHead, write, end } = methods;
  let head: Omit<Sample['response'], 'body'> | null = null;
  let chunks: Uint8Array[] | null = [];
  let isDropped = false;
  let length = 0;
  /** An HTTP/2 response calls its own `write` in `end`. */
  let isEnding = false;

  const add = (chunk: unknown, encoding: unknown): void => {
    if (chunks === null || isDropped || isEnding) return;
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return;
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encodingOf(encoding)) : chunk;
    length += bytes.length;
    if (length > limitBytes) chunks = null;
    else chunks.push(bytes);
  };
  methods.writeHead = (...args) => {
    const result = writeHead.apply(response, args);
    head = { status: response.statusCode, headers: headersOf(response, args.at(-1)) };
    onHead(head.headers.find(([name]) => name === 'content-type')?.[1] ?? '');
    return result;
  };
  methods.write = (...args) => {
    add(args[0], args[1]);
    return write.apply(response, args);
  };
  methods.end = (...args) => {
    add(args[0], args[1]);
    isEnding = true;
    return end.apply(response, args);
  };
  return {
    drop() {
      isDropped = true;
      chunks = null;
    },
    get response() {
      if (head === null || isDropped) return null;
      // Node.js discards what is written for these.
      const isBodiless = response.req.method === 'HEAD' || head.status === 204 || head.status === 304;
      return { ...head, body: isBodiless ? none : chunks && Buffer.concat(chunks) };
    },
  };
}

function encodingOf(encoding: unknown): BufferEncoding {
  return typeof encoding === 'string' && Buffer.isEncoding(encoding) ? encoding : 'utf8';
}

/** The headers of a response; its own list is empty if all of them were given with the head. */
function headersOf(response: ServerResponse, given: unknown): (readonly [string, string])[] {
  const all = response.getHeaders() as OutgoingHttpHeaders;
  const names = Object.keys(all);
  if (names.length > 0 || !Array.isArray(given)) return names.flatMap((name) => pairsOf(name, all[name]));
  const pairs: (readonly [string, string])[] = [];
  for (let at = 0; at + 1 < given.length; at += 2) pairs.push([String(given[at]).toLowerCase(), String(given[at + 1])]);
  return pairs;
}

function pairsOf(name: string, value: OutgoingHttpHeaders[string]): (readonly [string, string])[] {
  return (Array.isArray(value) ? value : [value ?? '']).map((each) => [name.toLowerCase(), String(each)] as const);
}
