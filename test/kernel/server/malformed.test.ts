import { deepEqual, equal, match } from 'node:assert/strict';
import type { Gateway } from '../../../kernel/sluice.ts';
import { json, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { openRaw, type RawClient, sendRaw, statusesOf } from './raw.ts';

/** A request after which the connection closes. */
const get = (lines: string, target = '/x', version = '1.1'): string =>
  `GET ${target} HTTP/${version}\r\n${lines}Connection: close\r\n\r\n`;
const post = (lines: string, body: string, version = '1.1'): string =>
  `POST /x HTTP/${version}\r\nHost: a\r\n${lines}\r\n${body}`;
/** A request line that would reach the backend if it were parsed as a request. */
const hidden = 'GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n';
const chunked = 'Transfer-Encoding: chunked\r\n';

/** The error, the bytes, and the only status that is returned before the connection ends. */
const cases: readonly (readonly [name: string, bytes: string, status: number])[] = [
  ['an HTTP/0.9 line', 'GET /x\r\n\r\n', 505],
  ['version 0.9 and headers', 'GET /x HTTP/0.9\r\nHost: a\r\n\r\n', 505],
  ['version 1.2', get('Host: a\r\n', '/x', '1.2'), 400],
  ['version 2.0 without HTTP/2 framing', get('Host: a\r\n', '/x', '2.0'), 505],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ['the start of a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
  ['arbitrary bytes', '\x00\x01\x02\x03\r\n\r\n', 400],
  ['an unknown method', 'FETCH /x HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['a method in lower case', 'get /x HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['CONNECT', 'CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n', 405],
  ['a tab instead of a space', 'GET\t/x HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['a space in the target', get('Host: a\r\n', '/x y'), 400],
  ['a NUL in the target', get('Host: a\r\n', '/x\0'), 400],
  ['a byte beyond ASCII in the target', get('Host: a\r\n', '/\xc3\xa9'), 400],
  ['a fragment in the target', get('Host: a\r\n', '/x#y'), 400],
  ['an incomplete escape in the path', get('Host: a\r\n', '/x%zz'), 400],
  ['an escape that is not valid UTF-8', get('Host: a\r\n', '/x%ff'), 400],
  ['user information in an absolute target', get('Host: a\r\n', 'http://u@a/x'), 400],
  ['an absolute target of another scheme', get('Host: a\r\n', 'ftp://a/x'), 400],
  ['an absolute target without a host', get('Host: a\r\n', 'http:///x'), 400],
  ['no Host', get(''), 400],
  ['two Hosts', get('Host: a\r\nHost: b\r\n'), 400],
  ['two equal Hosts', get('Host: a\r\nhost: a\r\n'), 400],
  ['a Host with a space', get('Host: a b\r\n'), 400],
  ['a Host with a path', get('Host: a/b\r\n'), 400],
  ['a Host with user information', get('Host: u@a\r\n'), 400],
  ['bare line feeds', 'GET /x HTTP/1.1\nHost: a\n\n', 400],
  ['a bare line feed after a header', 'GET /x HTTP/1.1\r\nHost: a\nX: b\r\n\r\n', 400],
  ['a bare line feed at the end of the head', 'GET /x HTTP/1.1\r\nHost: a\r\n\n', 400],
  ['a bare carriage return in a value', 'GET /x HTTP/1.1\r\nHost: a\rX: b\r\n\r\n', 400],
  ['a folded header', get('Host: a\r\nX-A: b\r\n c\r\n'), 400],
  ['a folded header after a tab', get('Host: a\r\nX-A: b\r\n\tc\r\n'), 400],
  ['a folded Content-Length', post('Content-Length:\r\n 5\r\n', 'hello'), 400],
  ['a folded Transfer-Encoding', post('Transfer-Encoding:\r\n chunked\r\n', '0\r\n\r\n'), 400],
  ['white space before the first header', 'GET /x HTTP/1.1\r\n Host: a\r\n\r\n', 400],
  ['white space before a colon', get('Host : a\r\n'), 400],
  ['white space in a name', get('Host: a\r\nX Y: z\r\n'), 400],
  ['a header without a name', get('Host: a\r\n: x\r\n'), 400],
  ['a header without a colon', get('Host: a\r\nbroken\r\n'), 400],
  ['a NUL in a value', get('Host: a\r\nX: a\0b\r\n'), 400],
  ['an escape character in a value', get('Host: a\r\nX: a\x1bb\r\n'), 400],
  ['both framings, length first', post(`Content-Length: 5\r\n${chunked}`, `0\r\n\r\n${hidden}`), 400],
  ['both framings, chunks first', post(`${chunked}Content-Length: 5\r\n`, `0\r\n\r\n${hidden}`), 400],
  ['chunks in HTTP/1.0', post(chunked, `0\r\n\r\n${hidden}`, '1.0'), 400],
  ['both framings in HTTP/1.0', post(`Content-Length: 5\r\n${chunked}`, `0\r\n\r\n${hidden}`, '1.0'), 400],
  ['two equal lengths', post('Content-Length: 5\r\nContent-Length: 5\r\n', 'hello'), 400],
  ['two lengths', post('Content-Length: 5\r\nContent-Length: 0\r\n', hidden), 400],
  ['a list of lengths', post('Content-Length: 5, 5\r\n', 'hello'), 400],
  ['a length with a sign', post('Content-Length: +5\r\n', 'hello'), 400],
  ['a negative length', post('Content-Length: -5\r\n', 'hello'), 400],
  ['a hexadecimal length', post('Content-Length: 0x5\r\n', 'hello'), 400],
  ['a length with an exponent', post('Content-Length: 5e0\r\n', 'hello'), 400],
  ['a length with a fraction', post('Content-Length: 5.0\r\n', 'hello'), 400],
  ['a length with a space inside', post('Content-Length: 1 0\r\n', 'hello'), 400],
  ['an empty length', post('Content-Length: \r\n', 'hello'), 400],
  ['a length beyond exact integers', post('Content-Length: 9007199254740993\r\n', 'hello'), 400],
  ['a length of many digits', post(`Content-Length: ${'0'.repeat(1000)}9007199254740993\r\n`, 'hello'), 400],
  ['a length beyond 64 bits', post('Content-Length: 99999999999999999999999\r\n', 'hello'), 400],
  ['the transfer coding identity', post('Transfer-Encoding: identity\r\n', 'hello'), 501],
  ['an unknown transfer coding', post('Transfer-Encoding: xchunked\r\n', '0\r\n\r\n'), 501],
  ['a transfer coding before chunked', post('Transfer-Encoding: gzip, chunked\r\n', '0\r\n\r\n'), 501],
  ['chunked listed twice', post('Transfer-Encoding: chunked, chunked\r\n', '0\r\n\r\n'), 400],
  ['chunked in two headers', post(chunked + chunked, '0\r\n\r\n'), 400],
  ['chunked before another coding', post('Transfer-Encoding: chunked, identity\r\n', '0\r\n\r\n'), 400],
  ['a vertical tab before chunked', post('Transfer-Encoding: \x0bchunked\r\n', '0\r\n\r\n'), 400],
  ['a space before the colon of Transfer-Encoding', post('Transfer-Encoding : chunked\r\n', '0\r\n\r\n'), 400],
  ['a chunk size that is not a number', post(chunked, 'g\r\nhello\r\n0\r\n\r\n'), 400],
  ['a negative chunk size', post(chunked, '-1\r\nhello\r\n0\r\n\r\n'), 400],
  ['a chunk size with a prefix', post(chunked, '0x5\r\nhello\r\n0\r\n\r\n'), 400],
  ['a chunk size beyond 64 bits', post(chunked, 'fffffffffffffffff\r\nhello\r\n0\r\n\r\n'), 400],
  ['a chunk longer than its size', post(chunked, '3\r\nhello\r\n0\r\n\r\n'), 400],
  ['chunks ended by bare line feeds', post(chunked, '5\nhello\n0\n\n'), 400],
  ['a flood of chunk extensions', post(chunked, `5;${'x'.repeat(20_000)}\r\nhello\r\n0\r\n\r\n`), 413],
  ['an invalid trailer', post(chunked, '5\r\nhello\r\n0\r\nbroken\r\n\r\n'), 400],
  ['an unknown expectation', post('Expect: 200-ok\r\nContent-Length: 5\r\n', 'hello'), 417],
  ['more headers than the limit of 2,000', get(`Host: a\r\n${'a:\r\n'.repeat(2001)}`), 431],
  ['one header beyond the limit', get(`Host: a\r\nX: ${'x'.repeat(1_200_000)}\r\n`), 431],
  ['many headers beyond the limit', get(`Host: a\r\n${`X: ${'x'.repeat(1000)}\r\n`.repeat(1200)}`), 431],
  ['a header name beyond the limit', get(`Host: a\r\n${'x'.repeat(1_200_000)}: y\r\n`), 431],
  ['more query parameters than the limit', get('Host: a\r\n', `/?${'a&'.repeat(1_000)}b`), 414],
  ['a target beyond the limit', get('Host: a\r\n', `/${'x'.repeat(1_200_000)}`), 431],
];

describe('a malformed request', () => {
  let backend: TestBackend;
  let gateway: Gateway;
  let port: number;
  let other: RawClient;

  before(async () => {
    backend = await startBackend(json({ a: 1 }));
    const several = [{ url_pattern: '/1' }, { url_pattern: '/2' }];
    gateway = await startGateway({
      host: [backend.url],
      endpoints: [
        { endpoint: '/x', backend: [{ url_pattern: '/' }] },
        { endpoint: '/x', method: 'POST', backend: several },
        { endpoint: '/hidden', backend: [{ url_pattern: '/' }] },
      ],
    });
    ({ port } = await gateway.listen());
    other = await openRaw(port);
  });

  after(async () => {
    other.socket.destroy();
    await gateway.close();
    await backend.close();
  });

  for (const [name, bytes, status] of cases) {
    it(`with ${name} is answered with ${status} and is not executed`, async () => {
      const received = await sendRaw(port, bytes + hidden);
      deepEqual(statusesOf(received), [status]);
      match(received, /^HTTP\/1\.1 .*\r\n(?:.*\r\n)*Connection: close\r\n/);
      equal(backend.requests.length, 0);
    });
  }

  it('in chunks of one byte is rejected, too', async () => {
    const client = await openRaw(port);
    client.socket.setNoDelay(true);
    for (const byte of post(`Content-Length: 5\r\n${chunked}`, '')) client.write(byte);
    deepEqual(statusesOf(await client.ended()), [400]);
    equal(backend.requests.length, 0);
  });

  it('does not affect other connections', async () => {
    other.write('GET /__health HTTP/1.1\r\nHost: a\r\n\r\n');
    await other.until((received) => received.includes('"status":"ok"'));
    deepEqual(statusesOf(other.received), [200]);
    equal(gateway.status.calls, 0);
  });
});
