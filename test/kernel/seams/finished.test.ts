import { deepEqual, equal, match } from 'node:assert/strict';
import { connect } from 'node:net';
import { type AccessRecord, atService, definePlugin } from '#contract';
import type { Operations } from '#kernel';
import { openHarness } from '../../../kernel/testing/index.ts';
import { until } from '../../support/conditions.ts';
import { rememberingSinks, startBackend, type TestBackend } from '../../support/gateway.ts';
import { startWith } from '../../support/plugged.ts';

describe('a component that receives finished requests', () => {
  let backend: TestBackend;
  let gateway: Operations | undefined;
  const records: AccessRecord[] = [];
  let fails = false;

  const measuring = definePlugin({
    name: 'test/measuring',
    description: 'Sees every finished request.',
    places: [
      atService({ type: 'object', properties: {} }, () => ({
        finished: (record) => {
          records.push(record);
          if (fails) throw new Error('no');
        },
      })),
    ],
  });

  before(async () => {
    backend = await startBackend(({ target }, response) => {
      if (target === '/never') return;
      response.writeHead(200, { 'Content-Type': 'text/plain' });
      response.write('one');
      setImmediate(() => response.end('two'));
    });
  });
  after(() => backend.close());
  beforeEach(() => {
    records.length = 0;
    fails = false;
  });
  afterEach(() => gateway?.close());

  const endpoint = (path: string) => ({
    endpoint: path,
    output_encoding: 'no-op',
    backend: [{ host: [backend.url], url_pattern: path }],
  });
  const start = async (root: object = {}, options: object = {}): Promise<string> => {
    const config = { endpoints: [endpoint('/stream'), endpoint('/never')], ...root };
    gateway = await startWith([measuring], { ...config, extra_config: { 'test/measuring': {}, router: {} } }, options);
    return `http://127.0.0.1:${(await gateway.listen()).port}`;
  };

  it('receives route, bytes and status of each, even if the access log is disabled', async () => {
    const url = await start({ extra_config: { router: { disable_access_log: true } } });
    for (const path of ['/stream', '/nope']) await (await fetch(url + path)).text();
    await fetch(`${url}/stream`, { method: 'HEAD' });
    await until(() => records.length === 3);
    deepEqual(
      records.map(({ route, status, bytesOut, completed }) => [route?.endpoint, status, bytesOut, completed]),
      [
        ['/stream', 200, 6, true],
        [undefined, 404, 18, true],
        ['/stream', 200, 0, true],
      ],
    );
    equal(records[0]!.tls, null);
  });

  it('is notified when a client disconnected', async () => {
    const url = await start();
    const leaving = new AbortController();
    const asked = fetch(`${url}/never`, { signal: leaving.signal }).catch(() => {});
    await until(() => backend.requests.at(-1)?.target === '/never');
    leaving.abort();
    await asked;
    await until(() => records.length === 1);
    deepEqual([records[0]!.status, records[0]!.completed], [499, false]);
  });

  it('does not affect the access log if it fails', async () => {
    fails = true;
    const sinks = rememberingSinks();
    const url = await start({}, { sinks });
    equal(await (await fetch(`${url}/stream`)).text(), 'onetwo');
    await until(() => sinks.lines.some((line) => line.includes('"/stream"')));
    match(sinks.lines.join(''), /ERROR: a component failed at the end of a request: Error: no/);
  });
});

describe('a port of a plugin with a timeout for request heads', () => {
  it('closes a connection whose request head does not arrive in time', async () => {
    const plugin = definePlugin({
      name: 'test/port',
      description: 'Answers on a port of its own.',
      places: [
        atService({ type: 'object', properties: {} }, ({ listen }) => {
          listen({ host: '127.0.0.1', port: 0, headerTimeoutMs: 100 }, (_message, response) => response.end());
          return {};
        }),
      ],
    });
    const gate = await openHarness(plugin, 'service', {});
    const socket = connect(gate.ports[0]!, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\n');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    await new Promise((resolve) => socket.once('close', resolve));
    match(text, /^HTTP\/1\.1 408 /);
    await gate.close();
  });
});
