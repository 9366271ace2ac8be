import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { atService, definePlugin, type Meter, type MeterAttributes, meters, offer } from '#contract';
import { openHarness } from '../../../kernel/testing/index.ts';
import { plugin } from '../../../plugins/websocket/index.ts';
import { limitsOf } from '../../../plugins/websocket/settings.ts';
import { until } from '../../support/conditions.ts';
import { startGateway } from '../../support/gateway.ts';
import { startWith } from '../../support/plugged.ts';
import { openSocket, startSocketServer } from '../../support/websocket.ts';
import { configOf, directConfig, Stage } from './setup.ts';

/** A meter that sums recorded values by instrument and attributes. */
function addingMeter(): { meter: Meter; totals: Map<string, number> } {
  const totals = new Map<string, number>();
  const adding = (name: string) => ({
    add(value: number, attributes: MeterAttributes = {}) {
      const key = [name, ...Object.values(attributes)].join(' ');
      totals.set(key, (totals.get(key) ?? 0) + value);
    },
  });
  return { totals, meter: { counter: adding, upDownCounter: adding, histogram: () => ({ record() {} }) } };
}

describe('the configuration of websocket', () => {
  let stage: Stage;

  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(() => stage.close());

  const refused = (config: object, message: RegExp) => rejects(startGateway(config), message);

  it('accepts every field and applies defaults to absent ones', async () => {
    const every = {
      enable_direct_communication: false,
      subprotocols: ['a'],
      connect_event: true,
      disconnect_event: true,
      return_error_details: true,
      max_message_size: 1,
      message_buffer_size: 1,
      read_buffer_size: 1,
      write_buffer_size: 1,
      write_wait: '1s',
      ping_period: '1s',
      pong_wait: '2s',
      timeout: '1m',
      max_retries: -1,
      backoff_strategy: 'linear-jitter',
      disable_otel_metrics: true,
    };
    const gate = await openHarness(plugin, 'endpoint', every, { starts: false });
    deepEqual(gate.warnings, []);
    await gate.close();
    await rejects(openHarness(plugin, 'endpoint', { subprotocols: ['a', 'a'] }));
    await rejects(openHarness(plugin, 'endpoint', { max_message_size: 0 }));
    await rejects(openHarness(plugin, 'endpoint', { backoff_strategy: 'none' }));
    const { places } = plugin;
    const { properties } = places![0]!.schema as unknown as { properties: Record<string, { default: unknown }> };
    deepEqual(
      Object.entries(properties).map(([name, { default: value }]) => [name, value]),
      [
        ['enable_direct_communication', false],
        ['input_headers', []],
        ['subprotocols', []],
        ['connect_event', false],
        ['disconnect_event', false],
        ['return_error_details', false],
        ['max_message_size', 512],
        ['message_buffer_size', 256],
        ['read_buffer_size', 1024],
        ['write_buffer_size', 1024],
        ['write_wait', '10s'],
        ['ping_period', '54s'],
        ['pong_wait', '60s'],
        ['timeout', '5m'],
        ['max_retries', 0],
        ['backoff_strategy', 'fallback'],
        ['disable_otel_metrics', false],
      ],
    );
  });

  it("changes its endpoint to GET with the no-op encoding, regardless of the endpoint's settings", async () => {
    const backend = await stage.backend();
    const endpoint = { method: 'POST', output_encoding: 'json', input_headers: ['X-A'] };
    await stage.start(directConfig(backend.url, { endpoint, backend: { encoding: 'xml', group: 'a' } }));
    const [served] = stage.gateway.config.endpoints;
    deepEqual([served!.method, served!.output_encoding, served!.input_headers], ['GET', 'no-op', []]);
    const client = await stage.open('/chat/red');
    client.send('a');
    equal(await (await backend.next()).next(), 'a');
  });

  it('is rejected if pong_wait is not longer than ping_period', async () => {
    const websocket = { ping_period: '10s', pong_wait: '10s' };
    await refused(configOf('ws://127.0.0.1:1', { websocket }), /WEBSOCKET_PONG_WAIT/);
    await refused(configOf('ws://127.0.0.1:1', { websocket: { ping_period: '0s' } }), /WEBSOCKET_DURATION/);
  });

  it('is rejected if it has hosts with another scheme, or hosts that need sanitization', async () => {
    await refused(configOf('http://127.0.0.1:1'), /BACKEND_SCHEME.*must begin with ws:\/\/ or wss:\/\//);
    const cleaned = { disable_host_sanitize: false };
    await refused(configOf('http://127.0.0.1:1', { backend: cleaned }), /WEBSOCKET_HOST/);
    await refused(configOf('ws://127.0.0.1:1', { backend: cleaned }), /HOST_INVALID/);
    await refused(configOf('ws://{room}.test'), /WEBSOCKET_HOST.*share one connection/);
  });

  it('is rejected if it has several backends', async () => {
    const config = configOf('ws://127.0.0.1:1') as { endpoints: { backend: object[] }[] };
    const [first] = config.endpoints[0]!.backend;
    config.endpoints[0]!.backend.push({ ...first });
    await refused(config, /WEBSOCKET_BACKENDS|OUTPUT_ONE_BACKEND/);
  });

  it('requires a backend timeout of at least a minute', () => {
    const config = { timeout: 1000, write_wait: 5, ping_period: 6, pong_wait: 7 } as Parameters<typeof limitsOf>[0];
    equal(limitsOf(config).directBackend.silenceMs, 60_000);
    equal(limitsOf({ ...config, timeout: 300_000 }).directBackend.silenceMs, 300_000);
    deepEqual(limitsOf(config).sharedBackend, { writeMs: 5, silenceMs: 7, pingMs: 6 });
  });

  it('warns about settings without effect', async () => {
    const shared = await openHarness(plugin, 'endpoint', { input_headers: ['X-A'] }, { starts: false });
    match(shared.warnings[0]!.message, /input_headers has no effect/);
    await shared.close();
    const direct = { enable_direct_communication: true, connect_event: true };
    const gate = await openHarness(plugin, 'endpoint', direct, { starts: false });
    match(gate.warnings[0]!.message, /connect_event has no effect/);
    await gate.close();
  });

  it('counts connections, messages, errors and reconnections by endpoint, unless metrics are disabled', async () => {
    const { meter, totals } = addingMeter();
    const measuring = definePlugin({
      name: 'test/measuring',
      description: 'Adds up.',
      offers: [meters],
      places: [atService({ type: 'object', properties: {} }, () => ({ offers: [offer(meters, meter)] }))],
    });
    const server = await startSocketServer({
      accepted: (socket) => socket.socket.once('message', () => socket.send('OK')),
    });
    const config = (disable: boolean) => ({
      ...configOf(server.url, { backend: { url_pattern: '/' }, websocket: { disable_otel_metrics: disable } }),
      extra_config: { 'test/measuring': {}, 'admin/reload': { stream_drain: '1ms' } },
    });
    const gateway = await startWith([measuring], config(false));
    const { port } = await gateway.listen();
    const peer = await server.next();
    const client = await openSocket(`ws://127.0.0.1:${port}/chat/red`);
    client.send('a');
    await until(() => peer.messages.length === 2);
    equal(totals.get('websocket.connections /chat/{room}'), 1);
    peer.send('x');
    peer.send('y');
    await until(() => client.messages.length === 2);
    peer.socket.terminate();
    await until(() => totals.get('websocket.reconnections /chat/{room}') === 1);
    client.socket.close();
    await until(() => totals.get('websocket.connections /chat/{room}') === 0);
    equal(totals.get('websocket.messages /chat/{room} in'), 1);
    equal(totals.get('websocket.messages /chat/{room} out'), 2);
    const again = await server.next();
    again.send('{"body":"eA==","session":{"uuid":"none"}}');
    again.send('{"body":"%","session":{"uuid":"none"}}');
    await until(() => totals.get('websocket.dropped /chat/{room}') === 2);
    const long = await openSocket(`ws://127.0.0.1:${port}/chat/red`);
    long.send('x'.repeat(600));
    await until(() => totals.get('websocket.failures /chat/{room} client size') === 1);
    equal((await long.over()).code, 1009);
    await gateway.reload(config(true));
    totals.clear();
    const unmeasured = await openSocket(`ws://127.0.0.1:${port}/chat/red`);
    unmeasured.send('a');
    unmeasured.socket.close();
    await unmeasured.over();
    await gateway.close();
    await server.close();
    deepEqual(
      [...totals.keys()].filter((name) => name.startsWith('websocket')),
      [],
    );
  });
});
