// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in a configuration are written so.
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { atEndpoint, type Catalogue, definePlugin, HeaderBag, Reply } from '#contract';
import type { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { Channel } from '../../../kernel/workers/channel.ts';
import type { Committed, Heartbeat, PrepareOrder } from '../../../kernel/workers/messages.ts';
import { Worker } from '../../../kernel/workers/worker.ts';
import { catalogue } from '../../../plugins/index.ts';
import { until } from '../../support/conditions.ts';
import { rememberingSinks, startBackend, type TestBackend } from '../../support/gateway.ts';
import { arrival, joinedLines } from './lines.ts';

const nothing = { type: 'object', properties: { file: { type: 'string', description: 'A file.' } } } as const;

/** A component that returns the content of its file, a mirrored value and a value of the owner. */
const sections = definePlugin({
  name: 'test/parts',
  description: 'Shows what a worker has.',
  places: [
    atEndpoint(nothing, (site) => {
      const file = site.config.file === undefined ? '' : String(Buffer.from(site.read(site.config.file)));
      const list = site.mirror<string[], string>('list', {
        open: () => [],
        apply: (value, change) => void value.push(change),
        snapshot: (value) => value.join(),
      });
      const count = site.share(
        'count',
        () => [0],
        (value, asked: number) => (value[0]! += asked),
      );
      return {
        endpoint: () => async (request) => {
          const change = request.headers.get('x-change');
          if (change !== undefined) list.change(change);
          const response = JSON.stringify({ file, list: list.value, count: await count(2) });
          return Reply.raw(200, new HeaderBag(['Content-Type', 'application/json']), Buffer.from(response));
        },
      };
    }),
  ],
});
const plugged: Catalogue = {
  ...catalogue,
  plugins: { ...catalogue.plugins, [sections.name]: async () => ({ plugin: sections }) },
};

describe('the program of a worker process', () => {
  let backend: TestBackend;
  let channel: Channel;
  let worker: Worker;
  let reported: (readonly [name: string, payload: unknown])[];
  let lines: string[];
  let now: number | null;
  let sockets: Socket[];
  const { now: clock } = performance;

  beforeEach(async () => {
    sockets = [];
    now = null;
    performance.now = () => now ?? clock.call(performance);
    backend = await startBackend(({ target }, response) => {
      if (target === '/never') return;
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"ok":true}');
    });
    begin();
  });
  afterEach(async () => {
    performance.now = clock;
    for (const socket of sockets) socket.destroy();
    await channel.ask('stop');
    await backend.close();
  });

  function begin(port: number | null = 0): void {
    reported = [];
    const [inside, outside] = joinedLines();
    const heard = (name: string, respond?: (payload: never) => unknown) => (payload: never) => {
      reported.push([name, payload]);
      return respond?.(payload);
    };
    channel = new Channel(outside, {
      ready: heard('ready'),
      event: heard('event'),
      heartbeat: heard('heartbeat'),
      mirror: heard('mirror'),
      shared: heard('shared', ({ question }: { question: number }) => question * 10),
      snapshot: heard('snapshot', (id: string) => (id.includes('list') ? 'old' : undefined)),
    });
    const sinks = rememberingSinks();
    ({ lines } = sinks);
    worker = new Worker(inside, plugged, { port, debug: false, log: true, plugins: null }, sinks);
  }

  const endpoint = (path: string, more: object = {}) => ({
    endpoint: path,
    backend: [{ host: [backend.url], url_pattern: '/' }],
    ...more,
  });
  const order = (revision: number, config: object = {}, files: PrepareOrder['files'] = []): PrepareOrder => ({
    revision,
    file: 'gateway.json',
    text: JSON.stringify({ version: 3, listen_ip: '127.0.0.1', endpoints: [endpoint('/a')], ...config }),
    files,
    secrets: [],
  });
  const commit = (revision: number) => channel.ask('commit', revision) as Promise<Committed>;
  const serve = async (...given: Parameters<typeof order>): Promise<Committed> => {
    await channel.ask('prepare', order(...given));
    return commit(given[0]);
  };
  const listen = async (): Promise<string> => {
    const { port } = (await channel.ask('listen', { known: null })) as { port: number };
    return `http://127.0.0.1:${port}`;
  };
  const get = (url: string, headers: Record<string, string> = {}) =>
    fetch(url, { headers: { connection: 'close', ...headers } });
  const heartbeats = () => reported.flatMap(([name, payload]) => (name === 'heartbeat' ? [payload as Heartbeat] : []));

  it('reports when it is ready, and serves a prepared configuration once it is committed', async () => {
    await arrival();
    deepEqual(reported, [['ready', null]]);
    deepEqual(await serve(4), { revision: 4, rebound: [], port: null });
    const url = await listen();
    deepEqual(await (await get(`${url}/a`)).json(), { ok: true });
    await channel.ask('prepare', order(5, { endpoints: [endpoint('/b')] }));
    equal((await get(`${url}/b`)).status, 404);
    deepEqual(await commit(5), { revision: 5, rebound: [], port: Number(new URL(url).port) });
    equal((await get(`${url}/b`)).status, 200);
  });

  it('fills in the secrets that it receives, and fetches none itself', async () => {
    const headers = {
      'modifier/martian': { 'header.Modifier': { scope: ['request'], name: 'X-Key', value: '${file:/nowhere}' } },
    };
    const backends = [{ host: [backend.url], url_pattern: '/', extra_config: headers }];
    const given = order(1, { endpoints: [{ endpoint: '/a', backend: backends }] });
    await channel.ask('prepare', { ...given, secrets: [['file:/nowhere', 'handed-secret']] });
    await commit(1);
    await get(`${await listen()}/a`);
    equal(backend.requests.at(-1)!.headers['x-key'], 'handed-secret');
  });

  it('reconstructs the text of the next configuration from its difference to the active one', async () => {
    const { text, ...next } = order(2);
    await serve(1);
    const start = text.indexOf('"/a"');
    const change = { of: 1, start, end: start + 4, text: '"/b"' };
    await channel.ask('prepare', { ...next, change });
    await commit(2);
    const url = await listen();
    deepEqual([(await get(`${url}/a`)).status, (await get(`${url}/b`)).status], [404, 200]);
    await rejects(channel.ask('prepare', { ...next, change }), { code: 'TEXT_UNKNOWN' });
  });

  it('keeps its configuration if the committed one was not prepared', async () => {
    deepEqual(await commit(1), { revision: 0, rebound: [], port: null });
    await serve(1);
    await channel.ask('prepare', order(2));
    deepEqual(await commit(3), { revision: 1, rebound: [], port: null });
    deepEqual(await commit(2), { revision: 2, rebound: [], port: null });
    deepEqual(await commit(2), { revision: 2, rebound: [], port: null });
  });

  it('rejects an invalid configuration, and continues to serve', async () => {
    await serve(1);
    await rejects(channel.ask('prepare', order(2, { timeout: 'soon' })), (error: ConfigErrors) => {
      deepEqual(
        error.errors.map(({ pointer }) => pointer),
        ['/timeout'],
      );
      return true;
    });
    deepEqual(await commit(2), { revision: 1, rebound: [], port: null });
  });

  it('stops preparing a configuration that is aborted or replaced', async () => {
    await serve(1);
    await channel.ask('prepare', order(2));
    await channel.ask('abort');
    equal((await commit(2)).revision, 1);
    const first = channel.ask('prepare', order(3));
    const second = channel.ask('prepare', order(4));
    await Promise.all([first, second]);
    equal((await commit(3)).revision, 1);
    equal((await commit(4)).revision, 4);
  });

  it('opens the port of the configuration unless the gateway was started with another', async () => {
    await channel.ask('stop');
    begin(null);
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    server.close();
    await once(server, 'close');
    await serve(1, { port });
    equal(await listen(), `http://127.0.0.1:${port}`);
  });

  it('reads files from the message, not from disk', async () => {
    const config = { endpoints: [endpoint('/a', { extra_config: { 'test/parts': { file: '/none/at-all' } } })] };
    await serve(1, config, [['/none/at-all', Buffer.from('sent')]]);
    const { file } = (await (await get(`${await listen()}/a`)).json()) as { file: string };
    equal(file, 'sent');
  });

  it('requests shared values for the active configuration', async () => {
    await serve(6, { endpoints: [endpoint('/a', { extra_config: { 'test/parts': {} } })] });
    const { count } = (await (await get(`${await listen()}/a`)).json()) as { count: number };
    equal(count, 20);
    const questions = reported.flatMap(([name, payload]) =>
      name === 'shared' ? [payload as { revision: number }] : [],
    );
    deepEqual(
      questions.map(({ revision }) => revision),
      [6],
    );
  });

  it('receives a mirrored value and its changes from the owner', async () => {
    await serve(1, { endpoints: [endpoint('/a', { extra_config: { 'test/parts': {} } })] });
    const url = await listen();
    const list = async (headers = {}) => ((await (await get(`${url}/a`, headers)).json()) as { list: string[] }).list;
    deepEqual(await list({ 'x-change': 'mine' }), ['old']);
    const [change] = reported.flatMap(([name, payload]) => (name === 'mirror' ? [payload as { id: string }] : []));
    deepEqual(change, { id: change!.id, change: 'mine' });
    channel.notify('mirror', { id: change!.id, change: 'theirs' });
    await arrival();
    deepEqual(await list(), ['old', 'theirs']);
  });

  it('forwards the reports of its components', async () => {
    const breaker = { 'qos/circuit-breaker': { interval: 60, timeout: 60, max_errors: 1, name: 'b' } };
    const broken = { host: ['http://127.0.0.1:1'], url_pattern: '/', extra_config: breaker };
    await serve(1, { endpoints: [{ endpoint: '/a', backend: [broken] }] });
    const url = await listen();
    for (let at = 0; at < 3; at++) await get(`${url}/a`);
    await until(() => reported.some(([name]) => name === 'event'));
    const event = reported.find(([name]) => name === 'event')![1] as { type: string; data: { name: string } };
    deepEqual([event.type, event.data.name], ['breaker.changed', 'b']);
  });

  it('reports requests in progress, and closes connections on demand', async () => {
    await serve(1, {
      endpoints: [endpoint('/a'), endpoint('/never', { backend: [{ host: [backend.url], url_pattern: '/never' }] })],
    });
    const url = await listen();
    const leaving = new AbortController();
    const never = fetch(`${url}/never`, { signal: leaving.signal }).catch(() => null);
    await until(async () => (await channel.ask('inFlight')) === 1);
    leaving.abort();
    await never;
    await until(async () => (await channel.ask('inFlight')) === 0);
    const kept = await fetch(`${url}/a`);
    await kept.text();
    ok(kept.headers.get('connection') !== 'close');
    channel.notify('closing', true);
    await arrival();
    const closing = await fetch(`${url}/a`);
    await closing.text();
    equal(closing.headers.get('connection'), 'close');
  });

  it('refuses connections to denied addresses', async () => {
    await serve(1);
    const url = await listen();
    await channel.ask('deny', [{ address: '127.0.0.1', port: Number(new URL(backend.url).port) }]);
    equal((await get(`${url}/a`)).status, 500);
    await channel.ask('deny', []);
    equal((await get(`${url}/a`)).status, 200);
  });

  it('logs at the configured level', async () => {
    await serve(1, { endpoints: [{ endpoint: '/a', backend: [{ host: ['http://127.0.0.1:1'], url_pattern: '/' }] }] });
    const url = await listen();
    const errors = () => lines.filter((line) => line.includes('ERROR')).length;
    await get(`${url}/a`);
    equal(errors(), 1);
    channel.notify('level', 'CRITICAL');
    await arrival();
    await get(`${url}/a`);
    equal(errors(), 1);
  });

  describe('with its heartbeat', () => {
    it('reports every change of configuration', async () => {
      await serve(1);
      await serve(2);
      await arrival();
      deepEqual(
        heartbeats().map(({ revision }) => revision),
        [1, 2],
      );
    });

    it('reports recent traffic and the state of the process', async () => {
      await serve(1, { endpoints: [endpoint('/a'), endpoint('/b')] });
      const url = await listen();
      for (let at = 0; at < 3; at++) await get(`${url}/a`);
      await serve(2, { endpoints: [endpoint('/a'), endpoint('/b')] });
      await until(() => heartbeats().some(({ traffic }) => traffic.length > 0));
      const [heartbeat] = heartbeats().filter(({ traffic }) => traffic.length > 0);
      deepEqual(
        heartbeat!.traffic.map(([name, { calls }]) => [name, calls]),
        [['GET /a', 3]],
      );
      ok(heartbeat!.requests >= 3 && heartbeat!.rssBytes > 1e6 && heartbeat!.heapUsedBytes > 1e6);
      ok(heartbeat!.heapUsedBytes < heartbeat!.rssBytes * 2);
      deepEqual([heartbeat!.calls, heartbeat!.streams, heartbeat!.lostLines, heartbeat!.aborted], [0, 0, 0, 0]);
    });

    it('reports until its last request has ended when it is stopped', async () => {
      const never = endpoint('/never', { timeout: '60s', backend: [{ host: [backend.url], url_pattern: '/never' }] });
      await serve(1, { endpoints: [never] });
      const url = await listen();
      const leaving = new AbortController();
      const asked = fetch(`${url}/never`, { signal: leaving.signal }).catch(() => null);
      await until(async () => (await channel.ask('inFlight')) === 1);
      const before = heartbeats().length;
      const stopped = channel.ask('stop');
      await until(() => heartbeats().length > before);
      leaving.abort();
      await Promise.all([asked, stopped]);
    });

    it('reports every second, including the delay of timers', async () => {
      let beat: (() => void) | undefined;
      const { setInterval: every, clearInterval: end } = globalThis;
      const timer = { unref: () => timer };
      const ended: unknown[] = [];
      globalThis.setInterval = ((run: () => void, ms: number) => {
        if (ms !== 1000) return every(run, ms);
        beat = run;
        return timer;
      }) as typeof setInterval;
      globalThis.clearInterval = ((given: NodeJS.Timeout) => {
        ended.push(given);
        end(given);
      }) as typeof clearInterval;
      try {
        now = 5_000;
        await serve(1);
        for (const at of [6_000, 7_300, 8_200]) {
          now = at;
          beat!();
        }
        await arrival();
        deepEqual(
          heartbeats()
            .slice(1)
            .map(({ loopLagMs }) => loopLagMs),
          [0, 300, 0],
        );
        now = null;
        await channel.ask('stop');
        await worker.stopped;
        ok(ended.includes(timer));
      } finally {
        Object.assign(globalThis, { setInterval: every, clearInterval: end });
      }
    });
  });

  it('exits when it is stopped, after closing its port', async () => {
    await serve(1);
    const url = await listen();
    await channel.ask('stop');
    await worker.stopped;
    await rejects(get(`${url}/a`));
  });
});
