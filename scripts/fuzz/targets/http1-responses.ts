import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { cut, type ReadResponse, readByNode, readResponse } from '../http1.ts';
import { defineTarget } from '../target.ts';

const versions = fc.constantFrom('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0');
const statuses = fc.constantFrom(
  '200 OK',
  '204 No Content',
  '304 Not Modified',
  '103 Early Hints',
  '100 Continue',
  '500',
  '99',
  '600 X',
);
const headers = fc.constantFrom(
  'Content-Length: 5',
  'Content-Length: 0',
  'content-length: 5, 5',
  'Content-Length: +5',
  'Transfer-Encoding: chunked',
  'transfer-encoding: gzip, chunked',
  'Connection: close',
  'Connection: keep-alive',
  'Keep-Alive: timeout=5',
  'X-A: b',
  'X-B:',
  'X-C :d',
  ': e',
  'X-F: \x80\xff',
  'Trailer: X-T',
  'Upgrade: h2c',
  'Set-Cookie: a=b',
);
const bodies = fc.constantFrom(
  '',
  'hello',
  '5\r\nhello\r\n0\r\n\r\n',
  '5;a=b\r\nhello\r\n0\r\nX-T: 1\r\n\r\n',
  '0\r\n\r\n',
  'hello world',
  '5\nhello',
);
const responses = fc
  .tuple(versions, statuses, fc.array(headers, { maxLength: 4 }), bodies)
  .map(
    ([version, status, fields, body]) =>
      `${version} ${status}\r\n${fields.map((field) => `${field}\r\n`).join('')}\r\n${body}`,
  );
const pieces = fc.constantFrom(
  '\r',
  '\n',
  '\r\n',
  '\0',
  ' ',
  '\t',
  ':',
  ',',
  '0',
  'f',
  '\x7f',
  '\xff',
  'HTTP/1.1 200 OK\r\n\r\n',
);
const inputs = fc.record({
  responses: fc.array(responses, { minLength: 1, maxLength: 2 }),
  edits: fc.array(fc.record({ at: fc.nat(), length: fc.nat({ max: 2 }), put: pieces }), { maxLength: 3 }),
  cuts: fc.array(fc.nat(), { maxLength: 4 }),
});

/** HTTP/1.1 responses of backends, as bytes. */
export const http1Responses = defineTarget({
  name: 'http1-responses',
  law: 'A response reads the same wherever it is cut; one that is accepted is what Node makes of it.',
  boundMs: 50,
  rooms: ['plugins/backend/http/'],
  isGuided: true,
  inputs,
  async open() {
    return { accept, async close() {} };
  },
});

type Input = {
  responses: readonly string[];
  edits: readonly { at: number; length: number; put: string }[];
  cuts: readonly number[];
};

async function accept({ responses: list, edits, cuts }: Input): Promise<void> {
  const text = edits.reduce((whole, { at, length, put }) => {
    const start = at % (whole.length + 1);
    return whole.slice(0, start) + put + whole.slice(start + length);
  }, list.join(''));
  const read = (offsets: readonly number[]) => readResponse(cut(text, offsets), { ends: true });
  const whole = await read([]);
  const inPieces = await read(cuts.map((at) => at % (text.length + 1)));
  if (!isDeepStrictEqual(readable(inPieces), readable(whole)))
    throw new Error(`differs when cut: ${JSON.stringify([whole, inPieces])}`);
  if (whole.error !== '' || whole.status === 101) return;
  // Node.js takes a coding that ends with a tab, which is white space, for an unknown one.
  if (/^transfer-encoding:[^\r\n]*\t[ \t]*\r?$/im.test(text)) return;
  const theirs = await readByNode(text);
  // Node.js reports an error for bytes after a response, and for long chunk extensions.
  if (theirs === 'extensions' || (theirs === null && !whole.isReusable)) return;
  const ours = { status: whole.status, body: whole.body };
  if (!isDeepStrictEqual(ours, theirs))
    throw new Error(`ours ${JSON.stringify(ours)}, Node's ${JSON.stringify(theirs)}`);
}

/**
 * Rejections are considered equal: how much of a malformed response was passed on depends on its chunks, and so does
 * whether bytes after a response arrive while it is read.
 */
function readable({ error, isReusable: _isReusable, ...rest }: ReadResponse): unknown {
  return error === '' ? rest : 'refused';
}
