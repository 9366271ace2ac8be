import { deepEqual, equal, match } from 'node:assert/strict';
import type { Operations } from '#kernel';
import type { GatewayEvent } from '../../../kernel/index.ts';
import { json, rememberingSinks, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { eventually } from '../../support/stream-client.ts';
import { openReading, type ReadingPort } from './support.ts';

describe('process operations of the admin API', () => {
  const sinks = rememberingSinks();
  let release: () => void;
  let backend: TestBackend;
  let gateway: Operations;
  let admin: ReadingPort;
  let port: number;

  const config = (level = 'ERROR') => ({
    version: 3,
    extra_config: { 'telemetry/logging': { level, stdout: true }, router: { disable_access_log: true } },
    endpoints: [{ endpoint: '/a', backend: [{ host: [backend.url], url_pattern: '/' }] }],
  });
  const reported = (): GatewayEvent[] => {
    const events: GatewayEvent[] = [];
    gateway.events.subscribe({ types: ['drain.*'] }, (event) => events.push(event));
    return events;
  };

  beforeEach(async () => {
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    backend = await startBackend((seen, response) => void held.then(() => json({ ok: true })(seen, response)));
    gateway = await startGateway(config(), { sinks });
    ({ port } = await gateway.listen());
    admin = await openReading(gateway);
    sinks.lines.length = 0;
  });

  afterEach(async () => {
    release();
    await admin.close();
    await gateway.close();
    await backend.close();
  });

  describe('/v1/logging', () => {
    it('returns the configured level', async () => {
      deepEqual((await admin.ask('/v1/logging')).body, { level: 'ERROR', namespaces: {}, ttl: null });
    });

    it('sets another level for a while', async () => {
      const { body } = await admin.send('PUT', '/v1/logging', { level: 'DEBUG', ttl: '5m' });
      deepEqual(body, { level: 'DEBUG', namespaces: {}, ttl: '300s' });
      gateway.log.debug('seen');
      match(sinks.lines.join(''), /seen/);
    });

    it('shows when a temporary level ends', async () => {
      await admin.send('PUT', '/v1/logging', { level: 'DEBUG', ttl: '5m' });
      admin.timers.advance(60_000);
      equal((await admin.ask('/v1/logging')).body.ttl, '240s');
    });

    it('restores the configured level when the time is over', async () => {
      await admin.send('PUT', '/v1/logging', { level: 'DEBUG', ttl: '5m' });
      admin.timers.advance(300_000);
      deepEqual((await admin.ask('/v1/logging')).body, { level: 'ERROR', namespaces: {}, ttl: null });
    });

    it('keeps a temporary level for ten minutes by default', async () => {
      equal((await admin.send('PUT', '/v1/logging', { level: 'DEBUG' })).body.ttl, '600s');
    });

    it('keeps a temporary level over a reload', async () => {
      await admin.send('PUT', '/v1/logging', { level: 'DEBUG' });
      await gateway.reload({ ...config(), name: 'other' });
      gateway.log.debug('seen');
      match(sinks.lines.join(''), /seen/);
    });

    it('restores the level of the latest configuration', async () => {
      await admin.send('PUT', '/v1/logging', { level: 'DEBUG' });
      await gateway.reload(config('WARNING'));
      admin.timers.advance(600_000);
      equal((await admin.ask('/v1/logging')).body.level, 'WARNING');
    });

    it('ends a temporary level at once with a ttl of 0', async () => {
      await admin.send('PUT', '/v1/logging', { level: 'DEBUG' });
      equal((await admin.send('PUT', '/v1/logging', { level: 'DEBUG', ttl: '0s' })).body.level, 'ERROR');
    });

    it('does not end a temporary level when an earlier one expires', async () => {
      await admin.send('PUT', '/v1/logging', { level: 'DEBUG', ttl: '1m' });
      await admin.send('PUT', '/v1/logging', { level: 'INFO', ttl: '5m' });
      admin.timers.advance(60_000);
      equal((await admin.ask('/v1/logging')).body.level, 'INFO');
    });

    for (const [body, why] of [
      [{ level: 'LOUD' }, /^level/],
      [{ ttl: '1m' }, /^level/],
      [{ level: 'DEBUG', ttl: 5 }, /^ttl/],
      [{ level: 'DEBUG', ttl: '25h' }, /^ttl/],
      [{ level: 'DEBUG', namespaces: { 'qos/circuit-breaker': 'DEBUG' } }, /^namespaces/],
      [{ level: 'DEBUG', colour: 'red' }, /colour/],
      [['DEBUG'], /object/],
    ] as const) {
      it(`rejects ${JSON.stringify(body)}`, async () => {
        const { status, body: problem } = await admin.send('PUT', '/v1/logging', body);
        equal(status, 400);
        match(problem.detail, why);
      });
    }
  });

  describe('/v1/drain and /v1/resume', () => {
    const connectionOf = async () => (await fetch(`http://127.0.0.1:${port}/none`)).headers.get('connection');

    it('close connections after their response', async () => {
      const { status, text } = await admin.send('POST', '/v1/drain');
      deepEqual([status, text], [202, '']);
      equal(await connectionOf(), 'close');
    });

    it('close connections on a port that a reload opened meanwhile', async () => {
      const other = await startGateway({ endpoints: [] });
      const its = await openReading(other);
      await other.listen();
      await its.send('POST', '/v1/drain');
      await other.reload({ version: 3, listen_ip: '127.0.0.1', endpoints: [] });
      const { port: moved } = other.processes;
      equal((await fetch(`http://127.0.0.1:${moved}/`)).headers.get('connection'), 'close');
      await its.close();
      await other.close();
    });

    it('keep connections open again after a resume', async () => {
      await admin.send('POST', '/v1/drain');
      equal((await admin.send('POST', '/v1/resume')).status, 202);
      equal((await admin.ask('/ready')).status, 200);
      equal(await connectionOf(), 'keep-alive');
    });

    it('report the start of a drain, with the requests in flight', async () => {
      const events = reported();
      const call = fetch(`http://127.0.0.1:${port}/a`);
      await eventually(() => backend.requests.length === 1);
      await admin.send('POST', '/v1/drain');
      deepEqual([events[0]!.type, events[0]!.data], ['drain.started', { requests: 1 }]);
      release();
      await (await call).text();
    });

    it('report the end of a drain when no requests are in flight', async () => {
      const events = reported();
      const call = fetch(`http://127.0.0.1:${port}/a`);
      await eventually(() => backend.requests.length === 1);
      await admin.send('POST', '/v1/drain');
      admin.timers.advance(10_000);
      equal(events.length, 1);
      release();
      await (await call).text();
      await eventually(() => gateway.status.calls === 0);
      admin.timers.advance(1_500);
      deepEqual([events[1]!.type, events[1]!.data], ['drain.finished', { result: 'idle' }]);
    });

    it('report that a drain was canceled', async () => {
      const events = reported();
      await admin.send('POST', '/v1/drain');
      await admin.send('POST', '/v1/resume');
      deepEqual(events[1]!.data, { result: 'resumed' });
    });

    it('report a repeated drain or resume only once', async () => {
      const events = reported();
      await admin.send('POST', '/v1/drain');
      await admin.send('POST', '/v1/drain');
      admin.timers.advance(1_500);
      await admin.send('POST', '/v1/resume');
      await admin.send('POST', '/v1/resume');
      admin.timers.advance(10_000);
      deepEqual(
        events.map(({ type }) => type),
        ['drain.started', 'drain.finished'],
      );
    });
  });

  describe('for a replaced configuration with a pending request', () => {
    let call: Promise<Response>;

    beforeEach(async () => {
      call = fetch(`http://127.0.0.1:${port}/a`, { headers: { connection: 'close' } });
      await eventually(() => backend.requests.length === 1);
      await gateway.reload({ ...config(), name: 'other' });
    });

    afterEach(async () => {
      release();
      await (await call).text();
    });

    it('list it after the active one', async () => {
      const { generations } = (await admin.ask('/v1/generations')).body;
      deepEqual(
        generations.map(({ ageMs: _, ...rest }: { ageMs: number }) => rest),
        [
          { revision: 2, state: 'current', requests: 0, streams: 0 },
          { revision: 1, state: 'draining', requests: 1, streams: 0 },
        ],
      );
    });

    it('report a higher age than for the active one', async () => {
      const [current, draining] = (await admin.ask('/v1/generations')).body.generations;
      equal(draining.ageMs >= current.ageMs, true);
    });

    it('count it in the metrics', async () => {
      const { text } = await admin.ask('/metrics');
      match(text, /^gateway_generations\{state="draining"\} 1$/m);
      match(text, /^gateway_generation_requests\{revision="1"\} 1$/m);
    });

    it('count it among the instances of its plugins', async () => {
      const { plugins } = (await admin.ask('/v1/plugins')).body;
      equal(plugins.find(({ name }: { name: string }) => name === 'telemetry/logging').instances, 2);
    });
  });

  describe('/v1/stop', () => {
    it('stops the process after the response', async () => {
      const { status, text } = await admin.send('POST', '/v1/stop');
      deepEqual([status, text], [202, '']);
      await eventually(() => admin.stops === 1);
    });

    it('makes GET /ready report not ready', async () => {
      await admin.send('POST', '/v1/stop');
      equal((await admin.ask('/ready')).status, 503);
    });
  });
});
