import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import {
  type AtService,
  after,
  atEndpoint,
  atService,
  before,
  definePlugin,
  HeaderBag,
  type Outcome,
  Reply,
  refuse,
  type Upgrade,
} from '#contract';
import type { Operations } from '#kernel';

import { openHarness } from '../../../kernel/testing/index.ts';
import { type Certificates, makeCertificates } from '../../support/certificates.ts';
import { until } from '../../support/conditions.ts';
import { rememberingSinks, startBackend, type TestBackend } from '../../support/gateway.ts';
import { startWith } from '../../support/plugged.ts';
import { ask } from '../server/ask.ts';
import { openRaw, type RawClient, statusesOf } from '../server/raw.ts';

const nothing = { type: 'object', properties: {} } as const;

/** A protocol that sends a greeting, responds in capital letters and sends a goodbye. */
function shouting(connection: Duplex, head: Buffer): void {
  const shout = (bytes: Buffer): void => void connection.write(String(bytes).toUpperCase());
  connection.write('hello\n');
  if (head.length > 0) shout(head);
  connection.on('data', shout);
}

describe('a connection that switches to another protocol through a component', () => {
  let backend: TestBackend;
  let gateway: Operations | undefined;
  let port: number;
  let lines: string[];
  let outcomes: Outcome[];
  let take: Upgrade['take'];
  const clients: RawClient[] = [];

  /** Serves `shout` connections after the forwarding lists are applied, and requires one. */
  const shout = definePlugin({
    name: 'test/shout',
    description: 'Answers in capitals.',
    places: [
      atEndpoint(nothing, () => ({
        upgrades: ['Shout'],
        proxy: () => async (request, call) => {
          if (request.client.upgrade !== 'shout') {
            return Reply.raw(426, new HeaderBag(['Upgrade', 'shout']), Buffer.from('shout only'));
          }
          call.onEnd((outcome) => outcomes.push(outcome));
          let connection: Duplex;
          return Reply.upgraded(
            {
              take: (given, head) => {
                connection = given;
                take(given, head);
              },
              end: () => void connection.end('bye\n'),
            },
            new HeaderBag(['X-Team', request.headers.get('x-team') ?? 'none']),
          );
        },
      })),
    ],
  });
  const guard = definePlugin({
    name: 'test/guard',
    description: 'Turns away who does not say the word.',
    places: [
      atEndpoint(nothing, () => ({
        endpoint: before((request) => (request.headers.get('x-word') === 'please' ? undefined : refuse(401))),
      })),
    ],
  });
  const stamp = definePlugin({
    name: 'test/stamp',
    description: 'Stands around everything.',
    places: [
      atService(
        nothing,
        (): AtService => ({
          request: (next) => async (request, call) => {
            const path = request.path.replace('/old', '/shout');
            const reply = await next(request.with({ path }), call);
            reply.headers.set('X-Stamp', String(reply.status));
            return reply;
          },
          head: ({ headers }) => headers.append('X-Seen', 'yes'),
        }),
      ),
    ],
  });

  beforeEach(async () => {
    take = shouting;
    outcomes = [];
    backend = await startBackend(({ target, headers }, response) => {
      if (target === '/slow') return;
      response.writeHead(200, { 'Content-Type': 'application/json' });
      if (target === '/long') response.end('x'.repeat(5_000_000));
      else response.end(JSON.stringify({ upgrade: headers.upgrade ?? null, connection: headers.connection ?? null }));
    });
  });
  afterEach(async () => {
    for (const { socket } of clients.splice(0)) socket.destroy();
    await gateway?.close();
    gateway = undefined;
    await backend.close();
  });

  const config = (more: { shout?: object; other?: object; root?: object; extra?: object } = {}) => ({
    version: 3,
    host: [backend.url],
    ...more.root,
    extra_config: { 'test/stamp': {}, 'admin/reload': { stream_drain: '1ms' }, ...more.extra },
    endpoints: [
      {
        endpoint: '/shout',
        output_encoding: 'no-op',
        timeout: '20s',
        input_headers: ['X-Team'],
        extra_config: { 'test/shout': {} },
        backend: [{ url_pattern: '/' }],
        ...more.shout,
      },
      {
        endpoint: '/guarded',
        output_encoding: 'no-op',
        extra_config: { 'test/shout': {}, 'test/guard': {} },
        backend: [{ url_pattern: '/' }],
      },
      { endpoint: '/plain', input_headers: ['*'], backend: [{ url_pattern: '/plain' }], ...more.other },
      { endpoint: '/slow', timeout: '40ms', backend: [{ url_pattern: '/slow' }] },
      { endpoint: '/long', timeout: '20s', output_encoding: 'no-op', backend: [{ url_pattern: '/long' }] },
    ],
  });
  const start = async (given: object = config()): Promise<void> => {
    const sinks = rememberingSinks();
    ({ lines } = sinks);
    gateway = await startWith([shout, guard, stamp], given, { sinks });
    ({ port } = await gateway.listen());
  };
  const head = (path: string, more = '') =>
    `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: shout\r\n${more}\r\n`;
  const open = async (bytes: string): Promise<RawClient> => {
    const client = await openRaw(port);
    clients.push(client);
    client.write(bytes);
    return client;
  };
  const shouted = async (path = '/shout'): Promise<RawClient> => {
    const client = await open(head(path));
    await client.until((received) => received.endsWith('hello\n'));
    return client;
  };
  const streams = (): number => gateway!.status.streams;

  it('passes through the whole pipeline', async () => {
    await start();
    const client = await open(head('/old', 'X-Team: red\r\n'));
    await client.until((received) => received.endsWith('hello\n'));
    match(client.received, /^HTTP\/1\.1 101 Switching Protocols\r\n/);
    for (const line of ['X-Team: red', 'X-Stamp: 101', 'X-Seen: yes', 'Connection: Upgrade', 'Upgrade: shout']) {
      ok(client.received.includes(`\r\n${line}\r\n`), line);
    }
    ok(!/content-length|transfer-encoding|completed/i.test(client.received));
    client.write('abc');
    await client.until((received) => received.endsWith('ABC'));
    deepEqual([streams(), gateway!.status.calls], [1, 0]);
  });

  it('includes bytes that arrived right after the request', async () => {
    await start();
    const client = await open(`${head('/shout')}early`);
    await client.until((received) => received.endsWith('hello\nEARLY'));
  });

  it('can be encrypted', async () => {
    const made: Certificates = makeCertificates();
    const authority = made.authority('authority');
    const { certificate, privateKey } = made.issue('server', authority);
    await start(config({ root: { tls: { keys: [{ public_key: certificate, private_key: privateKey }] } } }));
    const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
    let received = '';
    socket.on('data', (bytes) => {
      received += bytes;
    });
    socket.write(head('/shout'));
    await until(() => received.endsWith('hello\n'));
    socket.write('abc');
    await until(() => received.endsWith('ABC'));
    socket.destroy();
    await until(() => streams() === 0);
    made.remove();
  });

  describe('stays on HTTP', () => {
    it('after a rejection, which closes the connection', async () => {
      await start();
      const received = await (await open(`${head('/guarded')}${head('/guarded')}`)).ended();
      deepEqual(statusesOf(received), [401]);
      match(received, /\r\nConnection: close\r\n/);
      equal(outcomes.length, 0);
      match(await (await open(head('/none'))).ended(), /^HTTP\/1\.1 404 /);
    });

    it('at an endpoint without such a component, whose backend receives an ordinary request', async () => {
      await start();
      const received = await (await open(head('/plain'))).ended();
      deepEqual(statusesOf(received), [200]);
      match(received, /"upgrade":null/);
    });

    it('after a rejection that is longer than one write', async () => {
      await start();
      const received = await (await open(head('/long'))).ended();
      ok(received.length > 5_000_000);
    });

    it('if the client did not request it, or requested another protocol', async () => {
      await start();
      const { status, headers, text } = await ask(port, 'GET /shout');
      deepEqual([status, headers.upgrade, text], [426, 'shout', 'shout only']);
      const client = await open(head('/shout').replace('Upgrade: shout', 'Upgrade: whisper'));
      await client.until((received) => statusesOf(received)[0] === 426);
      equal((await ask(port, 'GET /shout', { headers: { Upgrade: 'shout' } })).status, 426);
    });

    it('if the request has a body, uses HTTP/1.0 or is pipelined', async () => {
      await start();
      const bodied = await open(`${head('/shout', 'Content-Length: 3\r\n')}abc`);
      await bodied.until((received) => statusesOf(received)[0] === 426);
      const old = await open(head('/shout').replace('1.1', '1.0'));
      await old.until((received) => statusesOf(received)[0] === 426);
      const queued = await open(`GET /slow HTTP/1.1\r\nHost: a\r\n\r\n${head('/shout')}`);
      await queued.until((received) => statusesOf(received).length === 2);
      deepEqual(statusesOf(queued.received), [500, 426]);
    });
  });

  it('stays on HTTP and accepts further requests if the client requested an unsupported protocol', async () => {
    await start();
    const other = head('/plain').replace('Upgrade: shout', 'Upgrade: whisper');
    const client = await open(other);
    await client.until((received) => received.endsWith('}'));
    client.write(other);
    await client.until((received) => statusesOf(received).length === 2);
  });

  it('outlives the timeouts of its endpoint and of requests', async () => {
    await start(config({ shout: { timeout: '2s' }, root: { write_timeout: '2s', read_timeout: '2s' } }));
    const client = await shouted();
    // Waits longer than each of the timeouts.
    const began = performance.now();
    await until(() => performance.now() - began > 2500);
    client.write('abc');
    await client.until((received) => received.endsWith('ABC'));
  });

  it('survives reloads that do not change its endpoint', async () => {
    await start();
    const client = await shouted();
    for (const timeout of ['3s', '4s', '5s']) await gateway!.reload(config({ other: { timeout } }));
    await until(() => gateway!.status.draining === 0);
    client.write('abc');
    await client.until((received) => received.endsWith('ABC'));
    equal(streams(), 1);
  });

  it('ends normally when its endpoint has changed', async () => {
    await start();
    const client = await shouted();
    await gateway!.reload(config({ shout: { timeout: '9s' } }));
    match(await client.ended(), /bye\n$/);
    await until(() => streams() === 0);
    await shouted();
  });

  it('is possible after a reload that adds the endpoint, and not after one that removes it', async () => {
    const { endpoints, ...rest } = config();
    await start({ ...rest, endpoints: endpoints.slice(2) });
    match(await (await open(head('/shout', 'Connection: close\r\n'))).ended(), /^HTTP\/1\.1 404 /);
    await gateway!.reload(config());
    await shouted();
  });

  it('ends normally when the gateway closes', async () => {
    await start();
    const client = await shouted();
    await gateway!.close();
    match(await client.ended(), /bye\n$/);
  });

  it('is counted and logged when it ends', async () => {
    await start();
    const client = await shouted();
    const access = () => lines.filter((line) => line.includes('"/shout"') || line.includes('/shout'));
    deepEqual([access().length, outcomes.length], [0, 0]);
    client.socket.end();
    await until(() => outcomes.length === 1);
    deepEqual(outcomes, [{ status: 100, completed: true, reason: null }]);
    await until(() => access().length === 1);
    match(access()[0]!, /\b100\b/);
    equal(streams(), 0);
  });

  it('ends when its client resets it, before or after the switch', async () => {
    let taken: Socket | undefined;
    take = (connection, bytes) => {
      taken = connection as Socket;
      shouting(connection, bytes);
    };
    await start();
    const client = await shouted();
    client.socket.resetAndDestroy();
    await until(() => outcomes.length === 1);
    deepEqual([outcomes[0]!.completed, taken!.destroyed, streams()], [false, true, 0]);
    const early = await open(head('/slow'));
    await until(() => backend.requests.some(({ target }) => target === '/slow'));
    early.socket.resetAndDestroy();
    await once(early.socket, 'close');
    await until(() => gateway!.status.calls + gateway!.status.streams === 0);
  });

  it('is closed if its component fails', async () => {
    take = () => {
      throw new Error('no voice');
    };
    await start();
    match(await (await open(head('/shout'))).ended(), /^HTTP\/1\.1 101 /);
    await until(() => lines.some((line) => line.includes('no voice')));
    await until(() => streams() === 0);
  });

  it('is rejected if the component has not declared it', async () => {
    const undeclared = definePlugin({
      name: 'test/undeclared',
      description: 'Switches unasked.',
      places: [
        atEndpoint(nothing, () => ({
          endpoint: after((reply) => Object.assign(reply, { upgrade: { take } }) && undefined),
        })),
      ],
    });
    const sinks = rememberingSinks();
    const { endpoints, ...rest } = config();
    const unasked = { endpoint: '/unasked', extra_config: { 'test/undeclared': {} }, backend: [{ url_pattern: '/' }] };
    gateway = await startWith(
      [shout, guard, stamp, undeclared],
      { ...rest, endpoints: [...endpoints, unasked] },
      { sinks },
    );
    ({ port } = await gateway.listen());
    match(await (await open(head('/unasked'))).ended(), /^HTTP\/1\.1 500 /);
    ok(sinks.lines.some((line) => line.includes('did not request an upgrade')));
  });

  it('can be tested without a gateway', async () => {
    const gate = await openHarness(shout, 'endpoint', {});
    const { reply, connection } = await gate.connect({ upgrade: 'Shout', headers: { 'X-Team': 'red' } });
    deepEqual([reply.status, reply.headers.get('x-team')], [101, 'red']);
    let received = '';
    connection!.on('data', (bytes) => {
      received += bytes;
    });
    connection!.write('abc');
    await until(() => received === 'hello\nABC');
    reply.upgrade!.end!();
    await until(() => received.endsWith('bye\n'));
    equal((await gate.connect({})).connection, null);
    await gate.close();
  });
});
