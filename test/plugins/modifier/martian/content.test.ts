import { deepEqual, equal, match } from 'node:assert/strict';
import { ByteStream, Call, HeaderBag, Reply } from '#contract';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/modifier/martian/index.ts';
import { pipeRequest } from '../../backend/http-client.ts';
import { issuesOf, through } from './testbed.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const abc = { 'body.Modifier': { body: base64('abcdefghij'), contentType: 'text/plain', scope: ['response'] } };

describe('the bodies and statuses of modifier/martian', () => {
  it('replace the body of a response', async () => {
    const { text, replied } = await through(
      { 'body.Modifier': { body: base64('{"m":1}'), contentType: 'application/json', scope: ['response'] } },
      {},
      { headers: ['Content-Type', 'text/html', 'Content-Encoding', 'gzip', 'Content-Length', '7', 'ETag', '"1"'] },
    );
    equal(text, '{"m":1}');
    deepEqual(replied, ['ETag', '"1"', 'Content-Type', 'application/json', 'Content-Length', '7']);
  });

  it('replace the body of a request, and send no content type by default', async () => {
    const { body, headers } = await through(
      { 'body.Modifier': { body: base64('new'), scope: ['request'] } },
      { method: 'POST', body: 'old', headers: ['Content-Type', 'application/json', 'Content-Encoding', 'gzip'] },
    );
    deepEqual([body, headers], ['new', []]);
  });

  it('release the connection whose body is replaced', async () => {
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
    it(`respond to the range ${range.slice(0, 20)} of a replaced body with ${status} and ${text || 'no content'}`, async () => {
      const { reply, text: got } = await through(abc, { headers: ['Range', range] });
      const { headers } = reply;
      deepEqual(
        [reply.status, got, headers.get('content-range'), headers.get('content-length')],
        [status, text, contentRange, String(text.length)],
      );
    });
  }

  it('return several ranges as a multipart response', async () => {
    const { reply, text } = await through(abc, { headers: ['Range', 'bytes=0-1, 8-, 30-40'] });
    const [, boundary] = /^multipart\/byteranges; boundary=(.+)$/.exec(reply.headers.get('content-type')!)!;
    equal(
      text.replaceAll(boundary!, 'B'),
      '--B\r\nContent-Type: text/plain\r\nContent-Range: bytes 0-1/10\r\n\r\nab\r\n' +
        '--B\r\nContent-Type: text/plain\r\nContent-Range: bytes 8-9/10\r\n\r\nij\r\n--B--\r\n',
    );
  });

  it('return the complete body after a backend failure, regardless of a range', async () => {
    const { reply, text } = await through(abc, { headers: ['Range', 'bytes=0-1'] }, { status: 500 });
    deepEqual([reply.status, text], [500, 'abcdefghij']);
  });

  it('set the length of the new body in a response to HEAD, which has no body', async () => {
    const { reply } = await through(abc, { method: 'HEAD' });
    deepEqual([reply.body, reply.headers.get('content-length')], [null, '10']);
  });

  it('replace the status', async () => {
    equal((await through({ 'status.Modifier': { statusCode: 200 } }, {}, { status: 404 })).reply.status, 200);
  });

  for (const statusCode of [204, 205, 304]) {
    it(`remove the body and length of a response whose status becomes ${statusCode}`, async () => {
      const { reply } = await through({ 'status.Modifier': { statusCode } }, {}, { headers: ['Content-Length', '7'] });
      deepEqual([reply.status, reply.body], [statusCode, null]);
      equal(reply.headers.has('content-length'), statusCode === 304);
    });
  }

  it('do not affect failed calls or responses of other protocols', async () => {
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
    ['base64 without padding', { 'body.Modifier': { body: 'YQ' } }, /is not valid base64/],
    [
      'a status in the request scope',
      { 'status.Modifier': { statusCode: 200, scope: ['request'] } },
      /must be response/,
    ],
    ['an invalid status', { 'status.Modifier': { statusCode: 99 } }, /'statusCode' must be 200 or more/],
    ['a content type with a line break', { 'body.Modifier': { body: '', contentType: 'a\nb' } }, /control characters/],
  ] as const) {
    it(`are rejected for ${what}`, async () => match((await issuesOf(config)).join(), issue));
  }
});
