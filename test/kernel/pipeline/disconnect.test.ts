import { equal, ok } from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Gateway } from '../../../kernel/sluice.ts';
import { until } from '../../support/conditions.ts';
import { rememberingSinks, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';

describe('a client that disconnects', () => {
  let backend: TestBackend;
  let gateway: Gateway;
  let lines: string[];
  /** Backend responses that ended before they were complete. */
  let broken: number;

  /** A backend that sends the start of a body for `/stream` and nothing for other paths. */
  beforeEach(async () => {
    broken = 0;
    backend = await startBackend((seen, response) => {
      response.on('close', () => response.writableFinished || broken++);
      if (seen.target === '/stream') response.write('first');
    });
  });

  afterEach(async () => {
    await gateway.close();
    await backend.close();
  });

  const send = async (endpoint: object, options: { method?: string } = {}): Promise<ClientRequest> => {
    const sinks = rememberingSinks();
    lines = sinks.lines;
    gateway = await startGateway(
      { host: [backend.url], endpoints: [{ endpoint: '/x', timeout: '60s', ...endpoint }] },
      { sinks, debug: true },
    );
    const { port } = await gateway.listen();
    return request({ port, host: '127.0.0.1', path: '/x', agent: false, ...options }).on('error', () => {});
  };

  const calls: [name: string, endpoint: object, count: number][] = [
    ['a single backend', { backend: [{ url_pattern: '/' }] }, 1],
    ['several backends', { backend: [{ url_pattern: '/1' }, { url_pattern: '/2' }] }, 2],
    ['concurrent calls', { concurrent_calls: 3, backend: [{ url_pattern: '/' }] }, 3],
    [
      'concurrent calls of several backends',
      { concurrent_calls: 2, backend: [{ url_pattern: '/1' }, { url_pattern: '/2' }] },
      4,
    ],
    [
      'a sequence',
      { extra_config: { proxy: { sequential: true } }, backend: [{ url_pattern: '/1' }, { url_pattern: '/2' }] },
      1,
    ],
    ['a backend with a timeout of its own', { backend: [{ url_pattern: '/', timeout: '50s' }] }, 1],
    ['a no-op backend', { output_encoding: 'no-op', backend: [{ url_pattern: '/' }] }, 1],
    ['a backend in the middle of a body to be decoded', { backend: [{ url_pattern: '/stream' }] }, 1],
  ];
  for (const [name, endpoint, count] of calls) {
    it(`cancels ${name}, without an ERROR in the log`, async () => {
      const client = await send(endpoint);
      client.end();
      await until(() => backend.requests.length === count);
      client.destroy();
      await until(() => broken === count);
      await until(() => lines.some((line) => line.includes('context canceled')));
      ok(!lines.some((line) => line.includes('ERROR') || line.includes('WARNING')));
    });
  }

  for (const [name, backendConfig] of [
    ['a stream', {}],
    ['a stream of a backend with a timeout of its own', { timeout: '50s' }],
  ] as const) {
    it(`cancels ${name} while it is in progress`, async () => {
      const client = await send({ output_encoding: 'no-op', backend: [{ url_pattern: '/stream', ...backendConfig }] });
      client.end();
      const [response] = (await once(client, 'response')) as [IncomingMessage];
      const [chunk] = await once(response, 'data');
      equal(String(chunk), 'first');
      client.destroy();
      await until(() => broken === 1);
      ok(!lines.some((line) => line.includes('ERROR')));
    });
  }

  it('in the middle of a body for several backends cancels the request before any backend is called, without an ERROR', async () => {
    const client = await send(
      { method: 'POST', backend: [{ url_pattern: '/1' }, { url_pattern: '/2' }] },
      { method: 'POST' },
    );
    client.write('half');
    await until(() => gateway.status.calls === 1);
    client.destroy();
    await until(() => lines.some((line) => line.includes('context canceled')));
    equal(backend.requests.length, 0);
    ok(!lines.some((line) => line.includes('ERROR')));
  });

  it('does not cancel a shadow request', async () => {
    const shadow = await startBackend((_seen, response) => {
      response.on('close', () => response.writableFinished || broken++);
    });
    const client = await send({
      backend: [
        { url_pattern: '/' },
        { url_pattern: '/s', host: [shadow.url], extra_config: { proxy: { shadow: true } } },
      ],
    });
    client.end();
    await until(() => backend.requests.length === 1 && shadow.requests.length === 1);
    client.destroy();
    await until(() => broken === 1);
    await until(() => lines.some((line) => line.includes('context canceled')));
    equal(broken, 1);
    await shadow.close();
  });
});
