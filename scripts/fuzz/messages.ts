import fc from 'fast-check';
import { ByteStream, CallError, type Data, HeaderBag, parseExact, Reply, toCallError } from '#contract';
import type { TestRequest } from '../../kernel/testing/index.ts';
import { fullJson, shortData } from './bulk.ts';
import { damaged, oddTexts } from './grammar.ts';
import { keySet, tokens } from './tokens.ts';

/** A body: text with one byte per character, or data to serialize as JSON. */
type Body = { readonly text: string } | { readonly json: unknown };

export interface GeneratedRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly params: readonly (readonly [name: string, value: string])[];
  readonly ip: string;
  readonly body: Body | null;
}

export interface GeneratedReply {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Body;
  /** Form in which the body arrives: in one chunk, as a stream, as a stream that breaks off, or not at all. */
  readonly comes: 'whole' | 'stream' | 'broken' | 'failed';
}

const texts = fc.constantFrom(
  '{"user":{"id":1},"tags":["a"],"model":"model-1","messages":[{"role":"user","content":"a"}]}',
  '{"access_token":"a","expires_in":1e400,"token_type":"bearer"}',
  '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
  JSON.stringify(keySet),
  '<?xml version="1.0"?><a b="c"><d>&amp;<![CDATA[x]]></d></a>',
  '{"data":{"hero":null},"errors":[{"message":"no"}]}',
  'event: a\ndata: {"b":1}\n\n',
  'a=b&c=%zz&__proto__=1',
  '\x1f\x8b\x08\0\0',
  '\xff\xfe\0',
  '',
);
const bodies: fc.Arbitrary<Body> = fc.oneof(
  fc.record({ json: shortData }),
  fc.record({ text: damaged(texts).map((text) => Buffer.from(text).toString('latin1')) }),
);
const types = fc.constantFrom(
  'application/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=a',
  'text/xml; charset=utf-16',
  'application/grpc',
  ';',
);
/** Texts that are valid in a header. */
const headerTexts = oddTexts.map((text) => text.replace(/[^\x20-\x7e\x80-\xff]/g, '').slice(0, 4_096));
const paths = fc.constantFrom(
  '/',
  '/a',
  '/a/%2e%2e/b',
  '/%00',
  '//',
  '/a;b',
  '/%ff',
  '/README.md',
  `/${'a/'.repeat(500)}`,
);
const queries = fc.constantFrom(
  '',
  '?a=b',
  '?a=1&a=2&a',
  '?__proto__=x&constructor=y',
  '?%zz=%',
  '?a[]=1;b',
  `?${'a&'.repeat(2_000)}`,
);

/** Generates requests. @param words names and values that the component understands. */
export function requestsFor(words: readonly string[]): fc.Arbitrary<GeneratedRequest> {
  const known = words.filter((word) => /^[\w-]{1,40}$/.test(word));
  const names = fc.constantFrom(
    'Authorization',
    'Cookie',
    'Origin',
    'User-Agent',
    'X-A',
    '__proto__',
    'Host',
    ...known,
  );
  const values = fc.oneof(fc.constantFrom('a', 'b=c; d', 'https://a.example.com', ...known), headerTexts);
  const headers = fc.oneof(
    { weight: 4, arbitrary: fc.tuple(names, values) },
    { weight: 1, arbitrary: fc.tuple(fc.constant('Content-Type'), types) },
    {
      weight: 2,
      arbitrary: fc.tuple(
        fc.constant('Authorization'),
        tokens.map((token) => `Bearer ${token}`),
      ),
    },
  );
  return fc.record({
    method: fc.constantFrom('GET', 'POST', 'PUT', 'OPTIONS', 'HEAD', 'DELETE'),
    target: fc.tuple(paths, queries).map((parts) => parts.join('')),
    headers: fc.array(headers, { maxLength: 5 }),
    params: fc.array(fc.tuple(fc.constantFrom('Id', 'Wildcard', '__proto__'), oddTexts), { maxLength: 2 }),
    ip: fc.constantFrom('127.0.0.1', '::1', '::ffff:10.0.0.1', '203.0.113.9', ''),
    body: fc.option(bodies),
  });
}

export const replies: fc.Arbitrary<GeneratedReply> = fc.record({
  status: fc.constantFrom(200, 200, 200, 201, 204, 301, 304, 400, 404, 429, 500, 503),
  headers: fc.array(
    fc.oneof(
      fc.tuple(fc.constant('Content-Type'), types),
      fc.tuple(
        fc.constantFrom('Cache-Control', 'Set-Cookie', 'Vary', 'ETag', 'Location', 'X-A', 'Content-Length'),
        fc.oneof(fc.constantFrom('max-age=60', 'no-store', '*', 'a=b', '4', '/b'), headerTexts),
      ),
      fc.constant(['Content-Encoding', 'gzip'] as [string, string]),
    ),
    { maxLength: 3 },
  ),
  body: bodies,
  comes: fc.constantFrom('whole', 'whole', 'stream', 'broken', 'failed'),
});

export function toRequest({ method, target, headers, params, ip, body }: GeneratedRequest): TestRequest {
  const hasBody = body !== null && method !== 'GET' && method !== 'HEAD';
  return {
    method,
    target,
    ip,
    headers: Object.fromEntries(headers),
    params: Object.fromEntries(params),
    ...(hasBody && { body: bytesOf(body) }),
  };
}

/** @param isRaw true for a reply as received over HTTP, false for a decoded one. */
export function toReply({ status, headers, body, comes }: GeneratedReply, isRaw: boolean): Reply {
  if (comes === 'failed') return Reply.failed(new CallError('FUZZ', 'the backend failed'));
  if (!isRaw) {
    const value = 'json' in body ? decoded(fullJson(body.json)) : body.text;
    if (value instanceof CallError) return Reply.failed(value);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    const reply = Reply.data((isObject ? value : { value, collection: [value] }) as never);
    reply.status = status;
    return reply;
  }
  const bag = new HeaderBag(headers.flat());
  const bytes = bytesOf(body);
  return Reply.raw(status, bag, comes === 'whole' ? bytes : streamOf(bytes, comes === 'broken'));
}

/** @returns a failure for text that cannot be decoded, for example because of deep nesting. */
function decoded(text: string): Data | CallError {
  try {
    return parseExact(text);
  } catch (error) {
    return toCallError(error);
  }
}

function bytesOf(body: Body): Buffer {
  return 'json' in body ? Buffer.from(fullJson(body.json)) : Buffer.from(body.text, 'latin1');
}

function streamOf(bytes: Buffer, breaks: boolean): ByteStream {
  const stream = new ByteStream();
  const half = bytes.length >> 1;
  stream.write(bytes.subarray(0, half));
  if (breaks) stream.fail(new CallError('FUZZ', 'the connection broke'));
  else {
    stream.write(bytes.subarray(half));
    stream.end();
  }
  return stream;
}
