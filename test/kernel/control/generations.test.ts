import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { atEndpoint, definePlugin } from '#contract';
import type { Refusal } from '#kernel';
import { Control } from '../../../kernel/control/control.ts';
import { type Engine, openEngine } from '../../../kernel/control/engine.ts';
import { createEventLog } from '../../../kernel/control/event-log.ts';
import type { Generations } from '../../../kernel/control/generations.ts';
import { catalogue } from '../../../plugins/index.ts';
import { freePort, until } from '../../support/conditions.ts';
import { json, rememberingSinks, startBackend, type TestBackend } from '../../support/gateway.ts';
import { openStream, type StreamedResponse } from '../../support/stream-client.ts';

describe('the active and replaced configurations of a process', () => {
  const sinks = rememberingSinks();
  let backend: TestBackend;
  let engine: Engine;
  let control: Control;
  let generations: Generations;
  /** Delayed responses of the backend. */
  let held: ServerResponse[];
  /** Names of the released resources. */
  let released: string[];
  const streams: StreamedResponse[] = [];

  /** Acquires a resource with a name. */
  const holder = definePlugin({
    name: 'test/holder',
    description: 'Holds something until its configuration is released.',
    places: [
      atEndpoint(
        { type: 'object', properties: { as: { type: 'string', description: 'A name.' } } } as const,
        (site) => {
          site.defer(() => {
            released.push(site.config.as!);
            if (site.config.as === 'stuck') throw new Error('it is stuck');
          });
          return {};
        },
      ),
    ],
  });

  before(async () => {
    backend = await startBackend((seen, response) => {
      if (seen.target === '/stream') {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: first\n\n');
      }
      if (seen.target === '/fast') json({ fast: true })(seen, response);
      else held.push(response);
    });
  });
  after(() => backend.close());

  beforeEach(async () => {
    sinks.lines.length = 0;
    held = [];
    released = [];
    const events = createEventLog();
    const plugins = { ...catalogue.plugins, [holder.name]: async () => ({ plugin: holder }) };
    engine = openEngine({ ...catalogue, plugins }, { sinks, events });
    ({ generations } = engine);
    control = new Control({ generations, overrides: {}, source: config('one'), events });
    await control.apply({ trigger: 'start' });
  });
  afterEach(async () => {
    for (const stream of streams.splice(0)) stream.leave();
    for (const response of held) response.destroy();
    await generations.close();
    await engine.registry.close();
    mock.reset();
  });

  const at = (endpoint: string, more: object = {}) => ({
    endpoint,
    timeout: '1h',
    backend: [{ host: [backend.url], url_pattern: endpoint }],
    ...more,
  });
  const config = (
    name: string,
    more: { port?: number; reload?: object; endpoints?: object[]; [field: string]: unknown } = {},
  ) => {
    const { reload = {}, endpoints = [], ...fields } = more;
    return {
      version: 3,
      name,
      port: 0,
      listen_ip: '127.0.0.1',
      extra_config: { 'admin/reload': reload, 'telemetry/logging': { level: 'DEBUG', stdout: true } },
      endpoints: [
        at('/fast'),
        at('/slow', { extra_config: { 'test/holder': { as: name } } }),
        at('/stream', {
          output_encoding: 'sse',
          backend: [{ host: [backend.url], url_pattern: '/stream', encoding: 'sse' }],
        }),
        ...endpoints,
      ],
      ...fields,
    };
  };

  const apply = (source: object, dryRun = false) => control.apply({ trigger: 'api', source, dryRun });
  const port = () => generations.address!.port;
  /** Sends a request whose response the backend delays. */
  async function begin(path = '/slow'): Promise<{ readonly response: Promise<Response> }> {
    const count = held.length;
    const response = fetch(`http://127.0.0.1:${port()}${path}`);
    await until(() => held.length > count);
    return { response };
  }
  const listenTo = async () => {
    const stream = await openStream(port(), '/stream');
    streams.push(stream);
    await stream.until('first');
    return stream;
  };
  const responses = (at: number): Promise<boolean> =>
    fetch(`http://127.0.0.1:${at}/fast`, { headers: { connection: 'close' } }).then(
      ({ status }) => status === 200,
      () => false,
    );

  it('are listed with age and requests in flight, newest first', async () => {
    await generations.listen();
    mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
    await apply(config('two'));
    mock.timers.setTime(1_000_500);
    await begin();
    await begin();
    await apply(config('three'));
    mock.timers.setTime(1_001_500);
    await begin();
    await listenTo();
    await apply(config('four'));
    mock.timers.setTime(1_003_500);
    const states = generations.held.map(({ revision, state, requests, ageMs }) => [revision, state, requests, ageMs]);
    deepEqual(states, [
      [4, 'current', 0, 2_000],
      [3, 'draining', 1, 3_000],
      [2, 'draining', 2, 3_500],
    ]);
    deepEqual(
      generations.held.map(({ streams: count }) => count),
      [0, 1, 0],
    );
    deepEqual(
      generations.draining.map(({ runtime, since }) => [runtime.id, since]),
      [
        [2, 1_000_500],
        [3, 1_001_500],
      ],
    );
    deepEqual([generations.calls, generations.streams, generations.inFlight, generations.requests], [3, 1, 4, 4]);
  });

  it('include the active one in the number of requests', async () => {
    await generations.listen();
    await begin();
    await listenTo();
    deepEqual([generations.calls, generations.streams, generations.inFlight], [1, 1, 2]);
    deepEqual(Object.fromEntries(generations.streamsByEndpoint), { 'GET /stream': 1 });
  });

  it('have no requests at first', () => {
    const { generations: fresh } = openEngine(catalogue, { sinks, events: createEventLog() });
    deepEqual([fresh.calls, fresh.requests, fresh.address, fresh.closing, fresh.draining], [0, 0, null, false, []]);
    return fresh.close();
  });

  it('answer another process with the requested configuration if it exists, otherwise with the active one', async () => {
    await generations.listen();
    const first = generations.current.runtime.shared as Map<string, (asked: unknown) => unknown>;
    await begin();
    await apply(config('two'));
    const second = generations.current.runtime.shared as typeof first;
    first.set('both', () => 'first');
    second.set('both', () => 'second');
    second.set('new', () => 'second');
    const ask = (revision: number, id: string) => generations.shared(revision, id)?.('what');
    deepEqual([ask(1, 'both'), ask(2, 'both'), ask(7, 'both')], ['first', 'second', 'second']);
    deepEqual([ask(1, 'new'), ask(2, 'other')], ['second', undefined]);
  });

  describe('when a configuration is prepared but not activated', () => {
    it('release its resources and close its port', async () => {
      await generations.listen();
      const asked = await freePort();
      await apply(config('tried', { port: asked }), true);
      deepEqual([released, await responses(asked), await responses(port())], [['tried'], false, true]);
      equal(generations.current.runtime.id, 1);
    });

    it('release its resources if its port is in use', async () => {
      await generations.listen();
      const taken = Number(new URL(backend.url).port);
      await rejects(apply(config('tried', { port: taken })), { slug: 'warmup' });
      deepEqual(released, ['tried']);
    });

    it('log resources that cannot be released', async () => {
      await generations.listen();
      await apply(config('stuck'), true);
      match(sinks.lines.join('\n'), /ERROR.*failed to release resources: Error: it is stuck/);
      await apply(config('two'));
    });
  });

  it('release resources only when the last request has ended', async () => {
    await generations.listen();
    const { response: first } = await begin();
    await apply(config('two'));
    deepEqual([released, generations.draining.length], [[], 1]);
    held[0]!.end('{}');
    equal((await first).status, 200);
    await until(() => generations.draining.length === 0);
    deepEqual(released, ['one']);
  });

  describe('that were replaced longer ago than drain_timeout', () => {
    const abortions = () => sinks.lines.flatMap((line) => /WARNING (.* aborted, .*)/.exec(line)?.[1] ?? []);

    beforeEach(() => generations.listen());

    it('abort their requests and name the endpoint', async () => {
      await begin();
      await apply(config('two', { reload: { drain_timeout: '1ms' } }));
      await until(() => generations.draining.length === 0);
      match(
        abortions().join('\n'),
        /^revision 1: 1 request aborted, replaced for longer than drain_timeout: GET \/slow$/,
      );
      equal(generations.aborted, 1);
    });

    it('log the number of aborted requests, and each endpoint once', async () => {
      await apply(config('two', { endpoints: [at('/other')] }));
      for (const path of ['/slow', '/other', '/slow']) await begin(path);
      await apply(config('three', { reload: { drain_timeout: '1ms' } }));
      await until(() => generations.draining.length === 0);
      match(abortions().join('\n'), /^revision 2: 3 requests aborted, .*: GET \/slow, GET \/other$/);
      equal(generations.aborted, 3);
    });

    it('log nothing if they had no requests', async () => {
      await apply(config('two', { reload: { drain_timeout: '1ms' } }));
      await until(() => generations.draining.length === 0);
      deepEqual([abortions(), generations.aborted], [[], 0]);
    });
  });

  describe('of which only a limited number may have pending requests', () => {
    it('delay the next change until fewer of them have pending requests', async () => {
      await generations.listen();
      let waits = 0;
      const room = (limit: number) => generations.room(limit).then(() => void waits++);
      await room(1);
      equal(waits, 1);
      await begin();
      await apply(config('two'));
      await begin();
      await apply(config('three'));
      const both = Promise.all([room(2), room(2)]);
      const all = room(1);
      await nextTurn();
      equal(waits, 1);
      held[1]!.end('{}');
      await both;
      equal(waits, 3);
      held[0]!.end('{}');
      await all;
    });
  });

  describe('that listen for requests', () => {
    it('have the address of the latest configuration', async () => {
      const asked = await freePort();
      await apply(config('two', { port: asked }));
      deepEqual(await generations.listen(), { host: '127.0.0.1', port: asked });
      deepEqual(generations.address, { host: '127.0.0.1', port: asked });
    });

    it('keep a replaced port open until its requests have ended', async () => {
      await generations.listen();
      const old = port();
      const { response: first } = await begin();
      const { rebound } = await apply(config('two', { port: await freePort() }));
      deepEqual(rebound, [`127.0.0.1:${port()}`]);
      equal(await responses(old), false);
      held[0]!.end('{}');
      equal((await first).status, 200);
    });

    it('close connections after each response while the gateway wants clients to reconnect elsewhere', async () => {
      await generations.listen();
      const connection = async () => (await fetch(`http://127.0.0.1:${port()}/fast`)).headers.get('connection');
      equal(await connection(), 'keep-alive');
      generations.setClosing(true);
      deepEqual([generations.closing, await connection()], [true, 'close']);
      await apply(config('two', { port: await freePort() }));
      equal(await connection(), 'close');
      generations.setClosing(false);
      deepEqual([generations.closing, await connection()], [false, 'keep-alive']);
    });
  });

  describe('on shutdown', () => {
    it('are released when all their requests have ended', async () => {
      await generations.listen();
      const { response: first } = await begin();
      await apply(config('two'));
      const { response: second } = await begin();
      let closed = false;
      const closing = generations.close().then(() => {
        closed = true;
      });
      equal(generations.closing, true);
      held[1]!.end('{}');
      equal((await second).status, 200);
      equal(closed, false);
      held[0]!.end('{}');
      equal((await first).status, 200);
      await closing;
      deepEqual(released.toSorted(), ['one', 'two']);
      equal(generations.address, null);
    });

    it('are released when no other process uses them', async () => {
      await generations.listen();
      const letGo = generations.current.runtime.hold();
      await apply(config('two'));
      let closed = false;
      const closing = generations.close().then(() => {
        closed = true;
      });
      await until(() => released.includes('two'));
      for (let turn = 0; turn < 10; turn++) await nextTurn();
      deepEqual([closed, released], [false, ['two']]);
      letGo();
      await closing;
      deepEqual(released, ['two', 'one']);
    });

    it('abort requests that take longer than max_shutdown_wait_time', async () => {
      await generations.listen();
      await apply(config('two', { max_shutdown_wait_time: '1ms' }));
      const { response: cut } = await begin();
      await Promise.all([rejects(cut), generations.close()]);
      deepEqual(released.toSorted(), ['one', 'two']);
    });

    it('end connections of other protocols, also those of replaced configurations', async () => {
      await generations.listen();
      const runtimes = [generations.current.runtime];
      const { response } = await begin();
      await apply(config('two'));
      runtimes.push(generations.current.runtime);
      const reported: number[] = [];
      for (const runtime of runtimes) mock.method(runtime, 'endLasting', () => void reported.push(runtime.id));
      const closing = generations.close();
      held[0]!.end('{}');
      await Promise.all([response, closing]);
      deepEqual(reported.toSorted(), [1, 2]);
    });

    it('wait for streams, also those of replaced configurations', async () => {
      await generations.listen();
      const stream = await listenTo();
      await apply(config('two'));
      await until(() => generations.draining.length === 0);
      equal(generations.streams, 1);
      deepEqual(Object.fromEntries(generations.streamsByEndpoint), { 'GET /stream': 1 });
      const closing = generations.close();
      held[0]!.end('data: last\n\n');
      equal(await stream.ended(), true);
      await closing;
      equal(generations.streams, 0);
    });
  });

  it('reject a port in use at its pointer', async () => {
    await generations.listen();
    const taken = Number(new URL(backend.url).port);
    await rejects(apply(config('two', { port: taken })), ({ issues, errors }: Refusal) => {
      deepEqual([issues[0]!.pointer, errors[0]!.code], ['/port', 'LISTENER_BIND']);
      return true;
    });
  });
});
