import { deepEqual, equal, match, ok } from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { type AccessRecord, before as hook } from '#contract';
import type { Operations } from '#kernel';

import type { Route } from '../../../kernel/pipeline/compile/route.ts';
import { until } from '../../support/conditions.ts';
import { json, rememberingSinks, startBackend, type TestBackend } from '../../support/gateway.ts';
import { startPlugged } from '../../support/plugged.ts';
import { ask } from './ask.ts';
import { openRaw, sendRaw } from './raw.ts';

describe('the access log of a gateway', () => {
  let backend: TestBackend;
  let gateway: Operations;
  let port: number;
  let lines: string[];
  let answer: (response: ServerResponse) => void;

  before(async () => {
    backend = await startBackend((_seen, response) => answer(response));
  });
  beforeEach(() => {
    (backend.requests as unknown[]).length = 0;
    answer = (response) => json({})(undefined as never, response);
  });
  afterEach(() => gateway.close());
  after(() => backend.close());

  const start = async (router: object = {}, service: object = {}): Promise<void> => {
    const sinks = rememberingSinks();
    ({ lines } = sinks);
    gateway = await startPlugged(
      {
        ...service,
        host: [backend.url],
        extra_config: { router },
        endpoints: [
          { endpoint: '/raw', output_encoding: 'no-op', timeout: '60s', backend: [{ url_pattern: '/' }] },
          { endpoint: '/x', timeout: '60s', backend: [{ url_pattern: '/' }] },
          { endpoint: '/x', method: 'POST', backend: [{ url_pattern: '/1' }, { url_pattern: '/2' }] },
          { endpoint: '/throws', extra_config: { test: { act: 'throw' } }, backend: [{ url_pattern: '/' }] },
          { endpoint: '/rejects', extra_config: { test: { act: 'reject' } }, backend: [{ url_pattern: '/' }] },
        ],
      },
      {
        endpoint: {
          throw: {
            endpoint: hook(() => {
              throw new Error('broken step');
            }),
          },
          reject: { endpoint: hook(() => Promise.reject(new Error('broken promise'))) },
        },
      },
      { sinks },
    );
    ({ port } = await gateway.listen());
  };
  const access = (): string[] => lines.filter((line) => line.startsWith('[GATEWAY]')).map((line) => line.trimEnd());
  const logged = async (count: number): Promise<string[]> => {
    while (access().length < count) await new Promise(setImmediate);
    return access();
  };

  it('has one line per request, with time, status, duration, address, method and target', async () => {
    await start();
    await ask(port, 'GET /x?a=1&b=%20');
    const [line] = await logged(1);
    match(
      line!,
      /^\[GATEWAY\] \d{4}\/\d\d\/\d\d - \d\d:\d\d:\d\d \| 200 \| +[\d.]+[µm]?s \| +127\.0\.0\.1 \| GET {6}"\/x\?a=1&b=%20"$/,
    );
  });

  it('masks parameters that hold credentials', async () => {
    await start();
    await ask(port, 'GET /x?page=2&access_token=s3cret');
    const [line] = await logged(1);
    match(line!, /"\/x\?page=2&access_token=\*\*\*"$/);
  });

  it('has a line for requests without an endpoint', async () => {
    await start();
    for (const line of ['GET /none', 'PUT /x', 'GET /X', 'GET /__health']) await ask(port, line);
    deepEqual(
      (await logged(4)).map((line) => line.split('|')[1]!.trim()),
      ['404', '405', '301', '200'],
    );
  });

  it('includes failures after the response head', async () => {
    answer = (response) => response.writeHead(503).end();
    await start();
    await ask(port, 'GET /x');
    const [line] = await logged(1);
    const entry = lines.find((text) => text.startsWith(line!))!;
    match(entry, /\| 500 \|.*\nError #01: .+\n$/s);
  });

  it('has the address of a client that has disconnected', async () => {
    answer = () => {};
    await start();
    const client = await openRaw(port);
    client.write('GET /x HTTP/1.1\r\nHost: a\r\n\r\n');
    while (gateway.status.calls === 0) await new Promise(setImmediate);
    client.socket.destroy();
    match((await logged(1))[0]!, /127\.0\.0\.1/);
  });

  it('has the status 499 for a client that disconnected before the response', async () => {
    answer = () => {};
    await start();
    const client = await openRaw(port);
    client.write('GET /x HTTP/1.1\r\nHost: a\r\n\r\n');
    await until(() => backend.requests.length === 1);
    client.socket.destroy();
    match((await logged(1))[0]!, /\| 499 \|.*"\/x"$/);
    const [, { traffic }] = gateway.serving.compiled.routes as [Route, Route];
    deepEqual([traffic.calls, traffic.errors], [1, 0]);
  });

  it('has the sent status for a client that disconnected during the response', async () => {
    answer = (response) => response.write('first');
    await start();
    const client = await openRaw(port);
    client.write('GET /raw HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.until((received) => received.includes('first'));
    client.socket.destroy();
    match((await logged(1))[0]!, /\| 200 \|/);
  });

  it('has the status 503 if the gateway closed the connection', async () => {
    answer = () => {};
    await start({}, { write_timeout: '20ms' });
    await sendRaw(port, 'GET /x HTTP/1.1\r\nHost: a\r\n\r\n');
    match((await logged(1))[0]!, /\| 503 \|/);
  });

  it('has the status with which a malformed request was rejected', async () => {
    await start();
    await sendRaw(port, 'POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nnonsense');
    match((await logged(1))[0]!, /\| 400 \|/);
  });

  it('omits the configured paths, with any query', async () => {
    await start({ logger_skip_paths: ['/__health', '/x'] });
    for (const line of ['GET /__health', 'GET /x?a=1', 'GET /none']) await ask(port, line);
    const results = await logged(1);
    equal(results.length, 1);
    match(results[0]!, /"\/none"/);
  });

  it('can be disabled', async () => {
    await start({ disable_access_log: true });
    await ask(port, 'GET /x');
    await ask(port, 'GET /none');
    deepEqual(access(), []);
  });

  it('cannot be forged by a request target', async () => {
    await start();
    await sendRaw(port, 'GET /"%0a[GATEWAY]|x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    match((await logged(1))[0]!, /"\/\\"%0a\[GATEWAY\]\|x"$/);
  });

  for (const [path, message] of [
    ['/throws', 'broken step'],
    ['/rejects', 'broken promise'],
  ] as const) {
    it(`is accompanied by an ERROR with the stack for an internal error (${path})`, async () => {
      await start();
      const client = await openRaw(port);
      client.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\nGET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
      const received = await client.ended();
      match(received, /^HTTP\/1\.1 500 .*\r\n\r\nHTTP\/1\.1 200 /s);
      ok(!received.includes('broken'));
      const result = lines.find((line) => line.includes('ERROR'))!;
      match(result, new RegExp(`${message}.*access\\.test\\.ts`, 's'));
    });
  }
});

describe('an access log record', () => {
  it('has no accessor properties, which would keep the request in memory until a full garbage collection', async () => {
    const records: AccessRecord[] = [];
    const gateway = await startPlugged(
      { endpoints: [], extra_config: { test: {} } },
      { service: { logging: { access: (record) => void records.push(record) } } },
    );
    const { port } = await gateway.listen();
    await ask(port, 'GET /a');
    await until(() => records.length === 1);
    await gateway.close();
    const [record] = records;
    const accessors = Object.entries(Object.getOwnPropertyDescriptors(record!)).filter(([, { get }]) => get);
    deepEqual(accessors, []);
    equal(record!.requestHeaders.get('host'), `127.0.0.1:${port}`);
  });
});

describe('a request body under a payload limit', () => {
  let backend: TestBackend;
  let gateway: Operations;
  let port: number;

  before(async () => {
    backend = await startBackend(json({}));
    gateway = await startPlugged(
      {
        host: [backend.url],
        extra_config: { router: { max_payload: 100, return_error_msg: true } },
        endpoints: [
          { endpoint: '/service', method: 'POST', backend: [{ url_pattern: '/' }] },
          {
            endpoint: '/smaller',
            method: 'POST',
            extra_config: { proxy: { max_payload: 10 } },
            backend: [{ url_pattern: '/' }],
          },
          {
            endpoint: '/larger',
            method: 'POST',
            extra_config: { proxy: { max_payload: 1000 } },
            backend: [{ url_pattern: '/' }],
          },
        ],
      },
      {},
    );
    ({ port } = await gateway.listen());
  });
  after(async () => {
    await gateway.close();
    await backend.close();
  });

  for (const [path, length, status] of [
    ['/service', 100, 200],
    ['/service', 101, 413],
    ['/smaller', 10, 200],
    ['/smaller', 11, 413],
    ['/larger', 100, 200],
    ['/larger', 101, 413],
  ] as const) {
    it(`of ${length} bytes on ${path} is answered with ${status}`, async () => {
      const body = 'x'.repeat(length);
      equal((await ask(port, `POST ${path}`, { body, headers: { 'Content-Length': String(length) } })).status, status);
    });

    it(`of ${length} bytes in chunks on ${path} is answered with ${status}`, async () => {
      const size = length.toString(16);
      const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n`;
      const received = await sendRaw(port, `${head}${size}\r\n${'x'.repeat(length)}\r\n0\r\n\r\n`);
      equal(Number(received.slice(9, 12)), status);
    });
  }

  it('that is too long is reported as such under return_error_msg', async () => {
    const { text, headers } = await ask(port, 'POST /smaller', { body: 'x'.repeat(11) });
    deepEqual([text, headers['content-type']], ['request body larger than 10 bytes', 'text/plain; charset=utf-8']);
  });
});
