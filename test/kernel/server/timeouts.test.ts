import { deepEqual, equal, ok } from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { mock } from 'node:test';
import type { Gateway } from '../../../kernel/sluice.ts';
import { until } from '../../support/conditions.ts';
import { json, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { openRaw, type RawClient, sendRaw, statusesOf } from './raw.ts';

const get = 'GET /x HTTP/1.1\r\nHost: a\r\n\r\n';

describe('the timeouts of the port', () => {
  let backend: TestBackend;
  let gateway: Gateway;
  let port: number;
  let answer: (response: ServerResponse) => void;

  before(async () => {
    backend = await startBackend((_seen, response) => answer(response));
  });
  beforeEach(() => {
    answer = (response) => json({})(undefined as never, response);
    (backend.requests as unknown[]).length = 0;
  });
  afterEach(() => {
    mock.timers.reset();
    return gateway.close();
  });
  after(() => backend.close());

  const start = async (settings: object): Promise<void> => {
    gateway = await startGateway({ ...config, ...settings });
    ({ port } = await gateway.listen());
  };
  const config = {
    get host() {
      return [backend.url];
    },
    timeout: '60s',
    endpoints: [
      { endpoint: '/x', backend: [{ url_pattern: '/' }] },
      { endpoint: '/x', method: 'POST', backend: [{ url_pattern: '/1' }, { url_pattern: '/2' }] },
      { endpoint: '/raw', output_encoding: 'no-op', backend: [{ url_pattern: '/' }] },
    ],
  };

  it('close a connection whose request head does not arrive in time, with 408', async () => {
    await start({ read_header_timeout: '50ms' });
    const client = await openRaw(port);
    client.write('GET /x HTTP/1.1\r\n');
    deepEqual(statusesOf(await client.ended()), [408]);
  });

  it('close a connection without any data', async () => {
    await start({ read_timeout: '50ms' });
    const received = await (await openRaw(port)).ended();
    ok(received === '' || received.startsWith('HTTP/1.1 408'));
  });

  it('end a request whose body does not arrive in time, without calling a backend', async () => {
    await start({ read_timeout: '50ms' });
    const received = await sendRaw(port, 'POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel');
    deepEqual([statusesOf(received), backend.requests.length], [[408], 0]);
  });

  it('close a connection whose request is answered but whose body never ends, even if bytes still arrive', async () => {
    await start({ idle_timeout: '50ms', timeout: '50ms' });
    const client = await openRaw(port);
    client.write('POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n');
    const sending = setInterval(() => client.write('a'), 5);
    try {
      deepEqual(statusesOf(await client.ended()), [500]);
    } finally {
      clearInterval(sending);
    }
  });

  const operation = { type: 'header', strategy: 'dotnotation', expression: 'a', target: 'X-A', on_conflict: 'skip' };
  for (const [reader, target, settings] of [
    [
      'components of the service',
      '/x',
      {
        extra_config: {
          'modifier/request-body-extractor': { operations: [operation] },
        },
      },
    ],
    ["the gateway's own paths", '/__echo/x', { echo_endpoint: true }],
  ] as const) {
    it(`end a request whose body never ends, even if bytes still arrive, if ${reader} read it`, async () => {
      await start({ idle_timeout: '50ms', timeout: '50ms', ...settings });
      const client = await openRaw(port);
      client.write(`POST ${target} HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n`);
      const sending = setInterval(() => client.write(' '), 5);
      try {
        deepEqual(statusesOf(await client.ended()), [500]);
      } finally {
        clearInterval(sending);
      }
    });
  }

  it('keep a connection whose body ends after the response', async () => {
    await start({ idle_timeout: '60s', timeout: '50ms' });
    const client = await openRaw(port);
    client.write('POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel');
    await client.until((received) => statusesOf(received).length === 1);
    client.write(`lo${get}`);
    // Only the response of the second request matters, because that request also reaches its timeout on a busy machine.
    await client.until((received) => statusesOf(received).length === 2);
    client.socket.destroy();
  });

  it('limit the head by the timeout of the whole request', async () => {
    await start({ read_header_timeout: '60s', read_timeout: '50ms' });
    deepEqual(statusesOf(await sendRaw(port, 'GET /x')), [408]);
  });

  /** Sends a request, and repeats it if the machine stalled so long that the request itself was late. */
  const reach = async (held: Promise<unknown>): Promise<RawClient> => {
    for (;;) {
      const client = await openRaw(port);
      client.write(get);
      if (await Promise.race([held.then(() => true), client.ended().then(() => false)])) return client;
    }
  };

  it('do not limit a slow response if only timeouts for reading are set', async () => {
    const held = Promise.withResolvers<ServerResponse>();
    answer = held.resolve;
    await start({ read_timeout: '50ms', idle_timeout: '60s' });
    const slow = await reach(held.promise);
    const response = await held.promise;
    // Waits until the gateway has closed a silent connection, because it has then also checked the slow one.
    await (await openRaw(port)).ended();
    response.end('{"late":true}');
    await slow.until((received) => received.includes('"late":true'));
    slow.socket.destroy();
  });

  it('can be longer than a Node.js timer allows', async () => {
    const held = Promise.withResolvers<ServerResponse>();
    answer = held.resolve;
    const long = '999999h';
    await start({
      read_timeout: '50ms',
      write_timeout: long,
      idle_timeout: long,
      dialer_timeout: long,
      dialer_keep_alive: long,
      dialer_fallback_delay: long,
      response_header_timeout: long,
      idle_connection_timeout: long,
    });
    const slow = await reach(held.promise);
    const response = await held.promise;
    await (await openRaw(port)).ended();
    response.end('{"late":true}');
    await slow.until((received) => received.includes('"late":true'));
    slow.socket.destroy();
  });

  it('can have a fraction of a millisecond', async () => {
    await start({
      host: [backend.url.replace('127.0.0.1', 'localhost')],
      read_timeout: '60000.5ms',
      read_header_timeout: '60000.5ms',
      idle_timeout: '50000us',
      dialer_timeout: '9000.5ms',
      dialer_keep_alive: '9000.5ms',
      dialer_fallback_delay: '300.5ms',
      response_header_timeout: '9000.5ms',
      idle_connection_timeout: '9000.5ms',
    });
    deepEqual(statusesOf(await sendRaw(port, get)), [200]);
    await gateway.close();
    await start({ read_header_timeout: '50.5ms' });
    deepEqual(statusesOf(await sendRaw(port, 'GET /x')), [408]);
  });

  it('close a connection without a response if writing takes too long', async () => {
    answer = () => {};
    await start({ write_timeout: '50ms' });
    equal(await sendRaw(port, get), '');
  });

  it('close a stream in the middle if writing takes too long', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    answer = (response) => response.writeHead(200, { 'Content-Type': 'text/plain' }).write('first');
    await start({ write_timeout: '50s' });
    const client = await openRaw(port);
    client.write('GET /raw HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.until((received) => received.includes('first'));
    mock.timers.tick(50_000);
    const received = await client.ended();
    ok(!received.endsWith('0\r\n\r\n'));
  });

  it('count write_timeout for each request separately', async () => {
    await start({ write_timeout: '60s' });
    const client = await openRaw(port);
    client.write(get + get + get);
    await client.until((received) => statusesOf(received).length === 3);
    client.socket.destroy();
  });

  it('close a connection that waits too long for its next request', async () => {
    await start({ idle_timeout: '50ms' });
    const received = await sendRaw(port, get);
    deepEqual(statusesOf(received), [200]);
  });

  it('close an idle connection after read_timeout if idle_timeout is not set', async () => {
    await start({ read_timeout: '50ms' });
    // Repeats a request that got 408, because the busy machine has sent it too late.
    await until(async () => statusesOf(await sendRaw(port, get)).join() === '200');
  });

  it('change with a reload', async () => {
    await start({});
    const before = await openRaw(port);
    before.write(get);
    await before.until((received) => statusesOf(received).length === 1);
    await gateway.reload({ version: 3, ...config, max_header_bytes: 1000 });
    deepEqual(statusesOf(await sendRaw(port, `GET /x HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(2000)}\r\n\r\n`)), [431]);
    before.write('GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    deepEqual(statusesOf(await before.ended()), [200, 200]);
    await gateway.reload({ version: 3, ...config, read_header_timeout: '50ms' });
    deepEqual(statusesOf(await sendRaw(port, 'GET /x HTTP/1.1\r\n')), [408]);
  });
});
