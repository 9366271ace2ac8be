import { deepEqual, equal, ok } from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { gunzipSync, gzipSync } from 'node:zlib';
import { acceptsGzip } from '../../../kernel/server/accepts-gzip.ts';
import type { Gateway } from '../../../kernel/sluice.ts';
import { startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { ask } from './ask.ts';
import { openRaw } from './raw.ts';

describe('Accept-Encoding', () => {
  const cases: [header: string | undefined, wants: boolean][] = [
    [undefined, false],
    ['', false],
    ['gzip', true],
    ['GZip', true],
    ['x-gzip', true],
    ['gzip, deflate, br', true],
    ['br;q=1.0,gzip;q=0.8', true],
    ['deflate, br', false],
    ['gzipped', false],
    ['gzip;q=0', false],
    ['gzip;q=0.000', false],
    ['gzip; Q=0', false],
    ['gzip ; q=0.001', true],
    ['gzip;q=none', false],
    ['gzip;q=2', false],
    ['*', true],
    ['*;q=0', false],
    ['*;q=0, gzip', true],
    ['*, gzip;q=0', false],
    ['identity', false],
    ['identity, *;q=0', false],
    ['identity;q=1, gzip;q=0.5', false],
    ['identity;q=0.5, gzip', true],
    ['identity;q=0, *;q=0', false],
    [', ,gzip,', true],
  ];
  for (const [header, wants] of cases) {
    it(`${JSON.stringify(header)} ${wants ? 'asks' : 'does not ask'} for gzip`, () => {
      equal(acceptsGzip(header), wants);
    });
  }
});

describe('a response', () => {
  const text = 'abcdefghij'.repeat(500);
  let backend: TestBackend;
  let gateway: Gateway | null = null;
  let port: number;
  let answer: (response: ServerResponse) => void;

  before(async () => {
    backend = await startBackend((_seen, response) => answer(response));
  });
  after(() => backend.close());
  afterEach(async () => {
    await gateway?.close();
    gateway = null;
  });

  const start = async (endpoint: object, router: object = {}): Promise<void> => {
    gateway = await startGateway({
      host: [backend.url],
      extra_config: { router },
      endpoints: [{ endpoint: '/x', timeout: '60s', backend: [{ url_pattern: '/' }], ...endpoint }],
    });
    ({ port } = await gateway.listen());
  };
  const answerWith = (headers: Record<string, string | string[]>, body: string | Buffer = text, status = 200) => {
    answer = (response) => response.writeHead(status, headers).end(body);
  };
  const raw = { output_encoding: 'no-op' };
  const get = (line = 'GET /x', encoding = 'gzip') => ask(port, line, { headers: { 'Accept-Encoding': encoding } });

  it('of JSON is compressed from 1 KiB, says so, and tells its real length', async () => {
    answerWith({ 'Content-Type': 'application/json' }, JSON.stringify({ a: text }));
    await start({});
    const { headers, bytes, status } = await get();
    deepEqual([status, headers['content-encoding'], headers.vary], [200, 'gzip', 'Accept-Encoding']);
    equal(headers['content-length'], String(bytes.length));
    deepEqual(JSON.parse(gunzipSync(bytes).toString()), { a: text });
    equal(headers['x-gateway-completed'], 'true');
  });

  it('of several backends is compressed too', async () => {
    answerWith({ 'Content-Type': 'application/json' }, JSON.stringify({ a: text }));
    await start({ backend: [{ url_pattern: '/1' }, { url_pattern: '/2', group: 'b' }] });
    const { bytes } = await get();
    deepEqual(JSON.parse(gunzipSync(bytes).toString()), { a: text, b: { a: text } });
  });

  for (const [name, encoding] of [
    ['does not ask', 'identity'],
    ['refuses it', 'gzip;q=0'],
  ] as const) {
    it(`is plain for a client that ${name}`, async () => {
      answerWith({ 'Content-Type': 'application/json' }, JSON.stringify({ a: text }));
      await start({});
      const { headers, text: plain } = await get('GET /x', encoding);
      deepEqual([headers['content-encoding'], JSON.parse(plain)], [undefined, { a: text }]);
    });
  }

  it('is plain where compression is off', async () => {
    answerWith({ 'Content-Type': 'application/json' }, JSON.stringify({ a: text }));
    await start({}, { disable_gzip: true });
    equal((await get()).headers['content-encoding'], undefined);
  });

  for (const [length, encoding] of [
    [1023, undefined],
    [1024, 'gzip'],
  ] as const) {
    it(`of ${length} bytes is ${encoding ?? 'left plain'}`, async () => {
      answerWith({ 'Content-Type': 'text/plain', 'Content-Length': String(length) }, 'x'.repeat(length));
      await start(raw);
      equal((await get()).headers['content-encoding'], encoding);
    });
  }

  it('passed as it is keeps status and headers', async () => {
    answerWith(
      { 'Content-Length': String(text.length), 'X-Own': 'yes', ETag: '"v1"', Vary: 'Origin', 'Set-Cookie': ['a=1', 'b=2'] },
      text,
      418,
    );
    await start(raw);
    const { status, headers, bytes } = await get();
    deepEqual([status, headers['x-own'], headers.etag], [418, 'yes', 'W/"v1"']);
    deepEqual([headers.vary, headers['set-cookie']], ['Origin, Accept-Encoding', ['a=1', 'b=2']]);
    equal(gunzipSync(bytes).toString(), text);
  });

  const untouched: [name: string, headers: Record<string, string>, body?: string | Buffer, status?: number][] = [
    ['already encoded', { 'Content-Encoding': 'br', 'Content-Length': '5000' }, text],
    ['of a range', { 'Content-Range': 'bytes 0-4999/9999', 'Content-Length': '5000' }, text, 206],
    ['not to be transformed', { 'Cache-Control': 'max-age=1, no-transform', 'Content-Length': '5000' }, text],
    ['of events', { 'Content-Type': 'text/event-stream; charset=utf-8' }, text],
    ['of lines', { 'Content-Type': 'application/x-ndjson' }, text],
  ];
  for (const [name, headers, body, status] of untouched) {
    it(`${name} is left as it is`, async () => {
      answerWith(headers, body, status);
      await start(raw);
      const got = await get();
      equal(got.headers['content-encoding'], headers['Content-Encoding']);
      equal(got.bytes.length, 5000);
    });
  }

  it('compressed by the backend for this client passes as it is', async () => {
    const packed = gzipSync(text);
    answerWith({ 'Content-Encoding': 'gzip', 'Content-Length': String(packed.length) }, packed);
    await start({ ...raw, input_headers: ['Accept-Encoding'] });
    const { headers, bytes } = await get();
    deepEqual([headers['content-encoding'], bytes], ['gzip', packed]);
  });

  it('to HEAD, or without a body, has no encoding', async () => {
    answerWith({ 'Content-Length': '5000', 'Content-Type': 'text/plain' });
    await start({ ...raw, endpoint: '/__catchall' });
    deepEqual([(await get('HEAD /x')).headers['content-encoding'], (await get('HEAD /x')).text], [undefined, '']);
    answerWith({}, '', 204);
    equal((await get()).headers['content-encoding'], undefined);
    answerWith({ ETag: '"v"' }, '', 304);
    deepEqual([(await get()).headers['content-encoding'], (await get()).headers.etag], [undefined, '"v"']);
  });

  it('that says no-one knows how long it is goes out piece by piece', async () => {
    let response: ServerResponse | null = null;
    answer = (given) => {
      response = given;
      given.writeHead(200, { 'Content-Type': 'text/plain' });
      given.write('first');
    };
    await start(raw);
    const client = await openRaw(port);
    client.write('GET /x HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n');
    await client.until((received) => bodyOf(received).length > 0 && inflatesTo(bodyOf(received), 'first'));
    response!.write('second');
    await client.until((received) => inflatesTo(bodyOf(received), 'firstsecond'));
    response!.end();
    const whole = bodyOf(await client.ended());
    equal(gunzipSync(whole).toString(), 'firstsecond');
  });

  it('cut off by the backend is cut off for the client, compressed or not', async () => {
    answer = (response) => {
      response.writeHead(200, { 'Content-Type': 'text/plain' });
      response.write(text, () => response.destroy());
    };
    await start(raw);
    const received = await (async () => {
      const client = await openRaw(port);
      client.write('GET /x HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n');
      return client.ended();
    })();
    ok(!received.endsWith('0\r\n\r\n'));
  });

  it('given up by its client gives up the backend', async () => {
    const closed = Promise.withResolvers<void>();
    answer = (response) => {
      response.writeHead(200, { 'Content-Type': 'text/plain' });
      response.once('close', () => closed.resolve());
      response.write('first');
    };
    await start(raw);
    const client = await openRaw(port);
    client.write('GET /x HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n');
    await client.until((received) => received.includes('\r\n\r\n'));
    client.socket.destroy();
    await closed.promise;
  });

  it('that is large is compressed no faster than its client takes it', async () => {
    const piece = Buffer.alloc(1024 * 1024, 'x');
    answer = (response) => {
      response.writeHead(200, { 'Content-Type': 'text/plain' });
      let left = 20;
      const feed = (): void => {
        while (left > 0) {
          left--;
          if (!response.write(piece)) return void response.once('drain', feed);
        }
        response.end();
      };
      feed();
    };
    await start(raw);
    const { bytes } = await get();
    equal(gunzipSync(bytes).length, 20 * piece.length);
  });
});

/** The body of a chunked answer as far as it has come. */
function bodyOf(received: string): Buffer {
  const pieces: string[] = [];
  let rest = received.slice(received.indexOf('\r\n\r\n') + 4);
  while (true) {
    const line = /^([0-9a-f]+)\r\n/.exec(rest);
    if (!line) break;
    const length = Number.parseInt(line[1]!, 16);
    pieces.push(rest.slice(line[0].length, line[0].length + length));
    rest = rest.slice(line[0].length + length + 2);
  }
  return Buffer.from(pieces.join(''), 'latin1');
}

/** True when a compressed text that has not ended yet already gives this. */
function inflatesTo(bytes: Buffer, expected: string): boolean {
  return bytes.length > 0 && gunzipSync(bytes, { finishFlush: SYNC_FLUSH }).toString() === expected;
}

const SYNC_FLUSH = 2;
