import { deepEqual, equal, match } from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { mock } from 'node:test';
import type { ServiceConfig } from '#contract';
import { silentLog } from '../../../kernel/contract/internal.ts';
import { type ExchangeMessage, exchangeKey } from '../../../kernel/server/exchange/context.ts';
import type { Exchange } from '../../../kernel/server/exchange/exchange.ts';
import { SwitchingResponse } from '../../../kernel/server/http1/upgrade.ts';
import { type Listener, listen } from '../../../kernel/server/port/listener.ts';
import type { PortSettings } from '../../../kernel/server/port/protocols.ts';
import { HeaderFaults } from '../../../kernel/server/port/proxy-protocol.ts';
import { openRaw, type RawClient, statusesOf } from './raw.ts';

const get = (target: string, more = ''): string => `GET ${target} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
const shout = 'Connection: Upgrade\r\nUpgrade: shout\r\n';

/** The HTTP layer of a port, regardless of the code that handles its requests. */
describe('the listener of a port', () => {
  let listener: Listener | null = null;
  /** Received requests that wait for their responses. */
  let served: { readonly message: IncomingMessage; readonly response: ServerResponse }[];
  /** The statuses with which requests were aborted. */
  let abandoned: number[];
  let arrived: () => void;
  const clients: RawClient[] = [];

  const settings = (config: object = {}, upgrades: readonly string[] = []): PortSettings => ({
    config: {
      listen_ip: '127.0.0.1',
      read_timeout: 0,
      read_header_timeout: 0,
      idle_timeout: 0,
      ...config,
    } as ServiceConfig,
    tls: null,
    upgrades: new Set(upgrades),
    http2Type: null,
  });

  const open = async (config: object = {}, upgrades: readonly string[] = []): Promise<void> => {
    const serve = (message: ExchangeMessage, response: ServerResponse): void => {
      message[exchangeKey] = { abandon: (status: number) => void abandoned.push(status) } as Exchange;
      served.push({ message, response });
      arrived();
    };
    listener = await listen(
      settings(config, upgrades),
      { ip: '127.0.0.1', port: 0 },
      { serve, serveHttp2: serve },
      silentLog,
      new HeaderFaults(silentLog),
    );
  };

  const client = async (bytes: string): Promise<RawClient> => {
    const opened = await openRaw(listener!.port);
    clients.push(opened);
    opened.write(bytes);
    return opened;
  };

  /** Waits for the given number of requests. */
  const serving = (count: number): Promise<void> =>
    new Promise((resolve) => {
      arrived = () => {
        if (served.length >= count) resolve();
      };
      arrived();
    });

  const targets = (): (string | undefined)[] => served.map(({ message }) => message.url);

  beforeEach(() => {
    served = [];
    abandoned = [];
    arrived = () => {};
  });
  afterEach(async () => {
    mock.timers.reset();
    for (const { socket } of clients.splice(0)) socket.destroy();
    await listener?.close(0);
    listener = null;
  });

  describe('that rejects a request', () => {
    const refused: [name: string, bytes: string, status: number][] = [
      ['an unknown expectation', get('/x', 'Expect: 200-ok\r\n'), 417],
      ['two names', get('/x', 'Host: b\r\n'), 400],
      ['CONNECT', 'CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n', 405],
    ];
    for (const [name, bytes, status] of refused) {
      it(`with ${name} runs no later request of the connection`, async () => {
        await open();
        const { ended } = await client(bytes + get('/x') + get('/y'));
        deepEqual([statusesOf(await ended()), targets()], [[status], []]);
      });
    }

    it('answers the previous requests first, and rejects only once', async () => {
      await open();
      const refusal = get('/x', 'Expect: 200-ok\r\n');
      const { ended } = await client(`${get('/1')}${refusal}CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n`);
      await serving(1);
      served[0]!.response.end('one');
      deepEqual([statusesOf(await ended()), targets(), abandoned], [[200, 417], ['/1'], []]);
    });

    it('aborts a request whose own body is malformed', async () => {
      await open();
      const { ended } = await client('POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
      await serving(1);
      served[0]!.message.resume();
      clients[0]!.write('broken\r\n');
      deepEqual([statusesOf(await ended()), abandoned], [[400], [400]]);
    });

    it('closes the connection if its response has begun', async () => {
      await open();
      const { until, ended } = await client('POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
      await serving(1);
      served[0]!.message.on('error', () => {}).resume();
      served[0]!.response.write('begun');
      await until((received) => received.includes('begun'));
      clients[0]!.write('broken\r\n');
      const received = await ended();
      deepEqual([statusesOf(received), received.endsWith('0\r\n\r\n')], [[200], false]);
    });
  });

  describe('that is closing', () => {
    it('adds Connection: close to new responses, and completes those that have begun', async () => {
      await open();
      const begun = await client(get('/begun'));
      await serving(1);
      served[0]!.response.write('first');
      await begun.until((received) => received.includes('first'));
      const waiting = await client(get('/waiting'));
      await serving(2);
      const idle = await openRaw(listener!.port);
      const closed = listener!.close(Number.POSITIVE_INFINITY);
      equal(await idle.ended(), '');
      served[0]!.response.end('last');
      served[1]!.response.end('late');
      match(await begun.ended(), /last\r\n0\r\n\r\n$/);
      match(await waiting.ended(), /\r\nConnection: close\r\n/i);
      await closed;
      listener = null;
    });

    it('aborts pending responses when the time limit is over', async () => {
      await open();
      const idle = await client('');
      const { ended } = await client(get('/x'));
      await serving(1);
      await listener!.close(1);
      listener = null;
      deepEqual([await ended(), await idle.ended(), abandoned], ['', '', [503]]);
    });

    it('closes each connection after its pending response, and keeps the remaining ones open if the closing is revoked', async () => {
      await open();
      const waiting = await client(get('/1'));
      await serving(1);
      listener!.setClosing(true);
      served[0]!.response.end();
      await waiting.ended();
      const reported = await client(get('/2'));
      await serving(2);
      served[1]!.response.end();
      match(await reported.ended(), /\r\nConnection: close\r\n/i);
      listener!.setClosing(false);
      const kept = await client(get('/3') + get('/4'));
      await serving(3);
      served[2]!.response.end();
      await serving(4);
      served[3]!.response.end();
      await kept.until((received) => statusesOf(received).length === 2);
    });
  });

  it('recognizes a PUT request as HTTP/1 regardless of how its bytes are split, even with HTTP/2 enabled', async () => {
    await open({ use_h2c: true });
    const { socket } = await client('P');
    socket.setNoDelay(true);
    await new Promise(setImmediate);
    clients[0]!.write('UT /x HTTP/1.1\r\nHost: a\r\n\r\n');
    await serving(1);
    equal(served[0]!.message.method, 'PUT');
  });

  it('runs no request after a response that closes the connection', async () => {
    await open();
    const { ended } = await client(get('/1') + get('/2'));
    await serving(1);
    served[0]!.response.shouldKeepAlive = false;
    served[0]!.response.end();
    deepEqual([statusesOf(await ended()), targets()], [[200], ['/1']]);
  });

  it('counts write_timeout from the head of each request to the end of its response', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    await open({ write_timeout: 1000 });
    const first = await client(get('/1'));
    await serving(1);
    mock.timers.tick(999);
    served[0]!.response.end();
    await first.until((received) => statusesOf(received).length === 1);
    first.write(get('/2'));
    await serving(2);
    mock.timers.tick(999);
    deepEqual(abandoned, []);
    mock.timers.tick(1);
    equal(statusesOf(await first.ended()).length, 1);
    deepEqual(abandoned, [503]);
  });

  it('does not apply the write timeout to a connection that switches to another protocol', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    await open({ write_timeout: 1000 }, ['shout']);
    const { until } = await client(get('/x', shout));
    await serving(1);
    const { response } = served[0]!;
    equal(response instanceof SwitchingResponse, true);
    const take = (connection: import('node:stream').Duplex) => void connection.write('hello');
    (response as SwitchingResponse).switchTo({ take }, ['Upgrade', 'shout'], 'GET /a', silentLog);
    await until((received) => received.includes('hello'));
    mock.timers.tick(5000);
    deepEqual([abandoned, response.destroyed, clients[0]!.socket.destroyed], [[], false, false]);
  });

  it('switches protocols only if no request is pending on the connection', async () => {
    await open({}, ['shout']);
    const { until } = await client(get('/1') + get('/2', shout));
    await serving(1);
    served[0]!.response.end();
    await serving(2);
    equal(served[1]!.response instanceof SwitchingResponse, false);
    served[1]!.response.end();
    await until((received) => statusesOf(received).length === 2);
    clients[0]!.write(get('/3', shout));
    await serving(3);
    equal(served[2]!.response instanceof SwitchingResponse, true);
    served[2]!.response.end();
    deepEqual(statusesOf(await clients[0]!.ended()), [200, 200, 200]);
  });

  it('closes the connection of a client that waits for 100-continue in vain', async () => {
    await open();
    const { ended } = await client('POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n');
    await serving(1);
    served[0]!.response.end();
    match(await ended(), /^HTTP\/1\.1 200 OK\r\n(?:.*\r\n)*Connection: close\r\n/i);
  });

  it('sends no 100-continue once the response has begun', async () => {
    await open();
    const { until } = await client('POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n');
    await serving(1);
    const { message, response } = served[0]!;
    response.write('begun');
    message.resume();
    await until((received) => received.includes('begun'));
    clients[0]!.write('hello');
    await once(message, 'end');
    response.end();
    deepEqual(statusesOf(await clients[0]!.ended()), [200]);
  });
});
