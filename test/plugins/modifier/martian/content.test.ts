import { deepEqual, equal, match } from 'node:assert/strict';
import { ByteStream, Call, HeaderBag, Reply } from '#contract';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/modifier/martian/index.ts';
import { pipeRequest } from '../../backend/http-client.ts';
import { issuesOf, through } from './stand.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const abc = { 'body.Modifier': { body: base64('abcdefghij'), contentType: 'text/plain', scope: ['response'] } };

describe('modifier/martian bodies and states', () => {
  it('case 3: replaces the body of an answer', async () => {
    const { text, replied } = await through(
      { 'body.Modifier': { body: base64('{"m":1}'), contentType: 'application/json', scope: ['response'] } },
      {},
      { headers: ['Content-Type', 'text/html', 'Content-Encoding', 'gzip', 'Content-Length', '7', 'ETag', '"1"'] },
    );
    equal(text, '{"m":1}');
    deepEqual(replied, ['ETag', '"1"', 'Content-Type', 'application/json', 'Content-Length', '7']);
  });

  it('replaces the body of a request, and sends no type where none is given', async () => {
    const { body, headers } = await through(
      { 'body.Modifier': { body: base64('new'), scope: ['request'] } },
      { method: 'POST', body: 'old', headers: ['Content-Type', 'application/json', 'Content-Encoding', 'gzip'] },
    );
    deepEqual([body, headers], ['new', []]);
  });

  it('lets the connection of the body that it replaces go', async () => {
    const gate = await openHarness(plugin, 'backend', abc);
    const body = new ByteStream();
    const reply = await gate.attached.transport!(() => Reply.raw(200, new HeaderBag(), body))(
      pipeRequest({ origin: 'http://h1' }),
      new Call(),
    );
    equal(String(reply.body), 'abcdefghij');
    const full = body.write(new Uint8Array(100));
    body.end();
    equal(full, true);
  });

  for (const [range, status, text, contentRange] of [
    ['bytes=2-4', 206, 'cde', 'bytes 2-4/10'],
    ['bytes=7-', 206, 'hij', 'bytes 7-9/10'],
    ['BYTES=-2', 206, 'ij', 'bytes 8-9/10'],
    ['bytes=-20', 206, 'abcdefghij', 'bytes 0-9/10'],
    ['bytes=8-99', 206, 'ij', 'bytes 8-9/10'],
    ['bytes=4-2', 416, '', 'bytes */10'],
    ['bytes=10-', 416, '', 'bytes */10'],
    ['bytes=-0', 416, '', 'bytes */10'],
    ['bytes=', 416, '', 'bytes */10'],
    ['bytes=a-b', 416, '', 'bytes */10'],
    ['bytes=-', 416, '', 'bytes */10'],
    [`bytes=${'0-,'.repeat(16)}0-`, 416, '', 'bytes */10'],
    ['lines=1-2', 200, 'abcdefghij', undefined],
  ] as const) {
    it(`answers the range ${range.slice(0, 20)} of a replaced body with ${status} ${text || 'and nothing'}`, async () => {
      const { reply, text: got } = await through(abc, { headers: ['Range', range] });
      const { headers } = reply;
      deepEqual(
        [reply.status, got, headers.get('content-range'), headers.get('content-length')],
        [status, text, contentRange, String(text.length)],
      );
    });
  }

  it('answers several ranges as parts', async () => {
    const { reply, text } = await through(abc, { headers: ['Range', 'bytes=0-1, 8-, 30-40'] });
    const [, boundary] = /^multipart\/byteranges; boundary=(.+)$/.exec(reply.headers.get('content-type')!)!;
    equal(
      text.replaceAll(boundary!, 'B'),
      '--B\r\nContent-Type: text/plain\r\nContent-Range: bytes 0-1/10\r\n\r\nab\r\n' +
        '--B\r\nContent-Type: text/plain\r\nContent-Range: bytes 8-9/10\r\n\r\nij\r\n--B--\r\n',
    );
  });

  it('gives the whole body where the backend failed, range or not', async () => {
    const { reply, text } = await through(abc, { headers: ['Range', 'bytes=0-1'] }, { status: 500 });
    deepEqual([reply.status, text], [500, 'abcdefghij']);
  });

  it('gives an answer to HEAD the length of its new body, and no body', async () => {
    const { reply } = await through(abc, { method: 'HEAD' });
    deepEqual([reply.body, reply.headers.get('content-length')], [null, '10']);
  });

  it('replaces the status', async () => {
    equal((await through({ 'status.Modifier': { statusCode: 200 } }, {}, { status: 404 })).reply.status, 200);
  });

  for (const statusCode of [204, 205, 304]) {
    it(`removes body and length of a response that it changes to ${statusCode}`, async () => {
      const { reply } = await through({ 'status.Modifier': { statusCode } }, {}, { headers: ['Content-Length', '7'] });
      deepEqual([reply.status, reply.body], [statusCode, null]);
      equal(reply.headers.has('content-length'), statusCode === 304);
    });
  }

  it('does not touch a call that failed, nor data of another protocol', async () => {
    const gate = await openHarness(plugin, 'backend', abc);
    for (const given of [Reply.data({ a: 1 }), Reply.failed({ view: {} } as never)]) {
      const reply = await gate.attached.transport!(() => given)(pipeRequest({ origin: 'http://h1' }), new Call());
      deepEqual([reply.body, reply.headers.list], [null, []]);
    }
  });

  for (const [what, config, issue] of [
    [
      'a body that is not valid base64',
      { 'body.Modifier': { body: 'e{}' } },
      /^\/body\.Modifier\/body the body is not valid base64/,
    ],
    ['base64 without its padding', { 'body.Modifier': { body: 'YQ' } }, /is not valid base64/],
    ['a status for the request', { 'status.Modifier': { statusCode: 200, scope: ['request'] } }, /must be response/],
    ['a status that is none', { 'status.Modifier': { statusCode: 99 } }, /'statusCode' must be 200 or more/],
    ['a type of two lines', { 'body.Modifier': { body: '', contentType: 'a\nb' } }, /control characters/],
  ] as const) {
    it(`refuses ${what}`, async () => match((await issuesOf(config)).join(), issue));
  }
});
