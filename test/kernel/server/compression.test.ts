import { deepEqual, equal } from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync, gzipSync, zstdDecompressSync } from 'node:zlib';
import type Koa from 'koa';
import { type AtService, ByteStream, Reply } from '#contract';
import { acceptedCoding, type Coding } from '../../../kernel/server/response/coding.ts';
import { compress, isCompressible } from '../../../kernel/server/response/compression.ts';
import type { Gateway } from '../../../kernel/sluice.ts';
import { startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { startPlugged } from '../../support/plugged.ts';
import { ask } from './ask.ts';
import { openRaw } from './raw.ts';

describe('the header Accept-Encoding', () => {
  const cases: [header: string | undefined, wants: boolean][] = [
    [undefined, false],
    ['', false],
    ['gzip', true],
    ['GZip', true],
    ['x-gzip', true],
    ['gzip, deflate', true],
    ['br;q=0.8,gzip;q=1.0', true],
    ['deflate, compress', false],
    ['gzipped', false],
    ['gzip;q=0', false],
    ['gzip;q=0.000', false],
    ['gzip; Q=0', false],
    ['gzip ; q=0.001', true],
    ['gzip;q=none', false],
    ['gzip;q=2', false],
    ['*', false],
    ['*;q=0', false],
    ['*;q=0, gzip', true],
    ['*, gzip;q=0', false],
    ['identity', false],
    ['identity, *;q=0', false],
    ['identity;q=1, gzip;q=0.5', false],
    ['identity;q=0.5, gzip', true],
    ['identity;q=0, *;q=0', false],
    [', ,gzip,', true],
    ['identity, gzip', true],
    ['gzip;q= 1', true],
    ['gzip;q =0', false],
    ['gzip;xq=0', true],
    ['gzip;qs=0', true],
    ['gzip;q=1.000', true],
    ['gzip;q=11', false],
    ['gzip;q=5e1', false],
  ];
  for (const [header, wants] of cases) {
    it(`${JSON.stringify(header)} ${wants ? 'accepts' : 'does not accept'} gzip`, () => {
      equal(acceptedCoding(header) === 'gzip', wants);
    });
  }
});

describe('the coding of a response', () => {
  for (const [header, coding] of [
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip, deflate, br', 'br'],
    ['*', 'zstd'],
    ['*;q=0.5, br', 'br'],
    ['zstd;q=0.5, br;q=0.6, gzip;q=0.7', 'gzip'],
    ['zstd;q=0, *', 'br'],
    ['zstd;q=0, br;q=0, *', 'gzip'],
    ['zstd;q=0.1, identity;q=0.2', null],
    ['zstd;q=0.1, br;q=0.3, identity;q=0.2', 'br'],
    ['BR', 'br'],
    ['brotli, zstandard, __proto__, constructor', null],
    ['zstd;q=2, br;q=-1', null],
    [`${'gzip;q=0.1,'.repeat(5000)}zstd;q=0.2`, 'zstd'],
  ] as const) {
    it(`is ${coding ?? 'none'} for ${header.slice(0, 60)}`, () => equal(acceptedCoding(header), coding));
  }
});

describe('response compression', () => {
  const text = 'abcdefghij'.repeat(500);
  let backend: TestBackend;
  let gateway: Gateway | null = null;
  let port: number;
  let received: (response: ServerResponse) => void;

  before(async () => {
    backend = await startBackend((_seen, response) => received(response));
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
    received = (response) => response.writeHead(status, headers).end(body);
  };
  const get = (line = 'GET /x', encoding = 'gzip') => ask(port, line, { headers: { 'Accept-Encoding': encoding } });

  it('applies to JSON from 1 KiB', async () => {
    answerWith({ 'Content-Type': 'application/json' }, JSON.stringify({ a: text }));
    await start({});
    const { headers, bytes, status } = await get();
    deepEqual([status, headers['content-encoding'], headers.vary], [200, 'gzip', 'Accept-Encoding']);
    equal(headers['content-length'], String(bytes.length));
    deepEqual(JSON.parse(gunzipSync(bytes).toString()), { a: text });
    equal(headers['x-gateway-completed'], 'true');
  });

  it('applies to merged responses', async () => {
    answerWith({ 'Content-Type': 'application/json' }, JSON.stringify({ a: text }));
    await start({ backend: [{ url_pattern: '/1' }, { url_pattern: '/2', group: 'b' }] });
    const { bytes } = await get();
    deepEqual(JSON.parse(gunzipSync(bytes).toString()), { a: text, b: { a: text } });
  });

  for (const [coding, inflate] of Object.entries({ zstd: zstdDecompressSync, br: brotliDecompressSync })) {
    for (const gzip_profile of ['speed', 'balanced', 'compression']) {
      it(`uses ${coding} for a client that prefers it, with the profile ${gzip_profile}`, async () => {
        answerWith({ 'Content-Type': 'application/json' }, JSON.stringify({ a: text }));
        await start({}, { gzip_profile });
        const { headers, bytes } = await get('GET /x', `gzip;q=0.5, ${coding}`);
        deepEqual([headers['content-encoding'], headers.vary], [coding, 'Accept-Encoding']);
        equal(headers['content-length'], String(bytes.length));
        deepEqual(JSON.parse(inflate(bytes).toString()), { a: text });
      });
    }
  }

  for (const [name, encoding] of [
    ['does not request it', 'identity'],
    ['refuses it', 'gzip;q=0'],
  ] as const) {
    it(`is skipped for a client that ${name}`, async () => {
      answerWith({ 'Content-Type': 'application/json' }, JSON.stringify({ a: text }));
      await start({});
      const { headers, text: plain } = await get('GET /x', encoding);
      deepEqual([headers['content-encoding'], JSON.parse(plain)], [undefined, { a: text }]);
    });
  }

  for (const [name, service] of [
    [
      'a path of a plugin',
      { routes: [{ path: '/own', description: 'Says much.', handle: () => Reply.data({ a: text }) }] },
    ],
    [
      'a middleware',
      {
        middleware: (context: Koa.Context) => {
          context.body = JSON.stringify({ a: text });
          context.type = 'application/json';
        },
      },
    ],
  ] as const satisfies [string, AtService][]) {
    it(`is skipped for HEAD of ${name}, which returns the uncompressed length`, async () => {
      gateway = await startPlugged({ extra_config: { test: {} }, endpoints: [] }, { service });
      ({ port } = await gateway.listen());
      equal((await get('GET /own')).headers['content-encoding'], 'gzip');
      const { status, headers, bytes } = await get('HEAD /own');
      deepEqual([status, headers['content-encoding'], headers.vary, bytes.length], [200, undefined, undefined, 0]);
      equal(headers['content-length'], String(JSON.stringify({ a: text }).length));
    });
  }

  it('is skipped if it is disabled', async () => {
    answerWith({ 'Content-Type': 'application/json' }, JSON.stringify({ a: text }));
    await start({}, { disable_gzip: true });
    equal((await get()).headers['content-encoding'], undefined);
  });

  it('applies to text from 1 KiB', async () => {
    answerWith({ 'Content-Type': 'text/plain' });
    await start({ output_encoding: 'string', backend: [{ url_pattern: '/', encoding: 'string' }] });
    const { headers, bytes } = await get();
    deepEqual([headers['content-encoding'], gunzipSync(bytes).toString()], ['gzip', text]);
  });

  for (const output of ['no-op', 'streaming']) {
    it(`is skipped for ${output}`, async () => {
      answerWith({ 'Content-Type': 'text/plain', ETag: '"v"' });
      await start({ output_encoding: output });
      const { headers, text: plain } = await get();
      deepEqual([headers['content-encoding'], headers.vary, headers.etag, plain], [undefined, undefined, '"v"', text]);
    });
  }

  it('is skipped for a body that the backend has compressed', async () => {
    const packed = gzipSync(text);
    answerWith({ 'Content-Encoding': 'gzip', 'Content-Length': String(packed.length) }, packed);
    await start({ output_encoding: 'no-op', input_headers: ['Accept-Encoding'] });
    const { headers, bytes } = await get();
    deepEqual([headers['content-encoding'], bytes], ['gzip', packed]);
  });

  it('applies to rejections with long bodies', async () => {
    await start({}, { error_body: { 404: { text } } });
    const { status, headers, bytes } = await get('GET /none');
    deepEqual([status, headers['content-encoding'], JSON.parse(gunzipSync(bytes).toString())], [404, 'gzip', { text }]);
  });

  it('does not block other requests when many responses are compressed', async () => {
    answerWith({ 'Content-Type': 'application/json' }, JSON.stringify({ a: text.repeat(200) }));
    await start({});
    const many = Array.from({ length: 10 }, () => get());
    equal((await ask(port, 'GET /__health')).status, 200);
    for (const { bytes } of await Promise.all(many))
      equal(JSON.parse(gunzipSync(bytes).toString()).a.length, 1_000_000);
  });

  it('does not fail if the client has disconnected', async () => {
    answerWith({ 'Content-Type': 'application/json' }, JSON.stringify({ a: text.repeat(2000) }));
    await start({});
    const client = await openRaw(port);
    client.write('GET /x HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n');
    client.socket.destroy();
    equal((await get()).status, 200);
  });
});

describe('isCompressible', () => {
  const long = 'x'.repeat(1024);
  const cases: [name: string, status: number, headers: string[], body: string, passes: boolean][] = [
    ['1024 bytes', 200, [], long, true],
    ['1023 bytes', 200, [], long.slice(1), false],
    ['1024 bytes in fewer characters', 200, [], 'ü'.repeat(512), true],
    ['no content', 204, [], long, false],
    ['partial content', 206, [], long, false],
    ['an unchanged response', 304, [], long, false],
    ['a rejection', 403, [], long, true],
    ['an encoded response', 200, ['content-encoding', 'br'], long, false],
    ['a range', 200, ['Content-Range', 'bytes 0-1/2'], long, false],
    ['no-transform', 200, ['Cache-Control', 'max-age=1, no-transform'], long, false],
    ['a cacheable response', 200, ['Cache-Control', 'max-age=1'], long, true],
    ['an event stream', 200, ['Content-Type', 'text/event-stream; charset=utf-8'], long, false],
    ['NDJSON', 200, ['Content-Type', 'application/x-ndjson'], long, false],
    ['gRPC', 200, ['Content-Type', 'application/grpc+proto'], long, false],
  ];
  for (const [name, status, headers, body, passes] of cases) {
    it(`returns ${passes} for ${name}`, () => {
      equal(isCompressible(status, headers, body), passes);
    });
  }
});

describe('the function compress()', () => {
  for (const [coding, inflate] of Object.entries({
    zstd: zstdDecompressSync,
    br: brotliDecompressSync,
    gzip: gunzipSync,
  })) {
    it(`compresses a stream with ${coding}`, async () => {
      const source = new ByteStream();
      const rendered = { status: 200, headers: ['Content-Length', '2000'], body: source };
      const { body, headers } = await compress(rendered, coding as Coding, 'balanced');
      source.write(Buffer.from('x'.repeat(2000)));
      source.end();
      equal(inflate(await buffer((body as ByteStream).readable())).toString(), 'x'.repeat(2000));
      deepEqual(headers, ['Content-Encoding', coding, 'Vary', 'Accept-Encoding']);
    });
  }

  it('makes the ETag weak and extends Vary', async () => {
    const body = 'x'.repeat(2000);
    const plain = { status: 200, headers: ['ETag', '"v"', 'Vary', 'Origin'], body };
    deepEqual((await compress(plain, 'gzip', 'balanced')).headers, [
      'ETag',
      'W/"v"',
      'Vary',
      'Origin',
      'Content-Encoding',
      'gzip',
      'Vary',
      'Accept-Encoding',
    ]);
    const said = { status: 200, headers: ['ETag', 'W/"v"', 'Vary', 'origin, accept-encoding'], body };
    deepEqual((await compress(said, 'gzip', 'balanced')).headers, [
      'ETag',
      'W/"v"',
      'Vary',
      'origin, accept-encoding',
      'Content-Encoding',
      'gzip',
    ]);
  });
});
