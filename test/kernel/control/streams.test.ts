import { deepEqual, equal } from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import type { Operations } from '#kernel';

import { until } from '../../support/conditions.ts';
import { json, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { openStream, type StreamedResponse } from '../../support/stream-client.ts';

describe('streams of clients over reloads', () => {
  let backend: TestBackend;
  let gateway: Operations;
  let port: number;
  /** The backend's ends of the streams. */
  let sources: ServerResponse[];
  const streams: StreamedResponse[] = [];

  const config = (more: { stream?: object; other?: object; reload?: object } = {}) => ({
    version: 3,
    host: [backend.url],
    extra_config: { 'admin/reload': { stream_drain: '50ms', ...more.reload } },
    endpoints: [
      {
        endpoint: '/events',
        output_encoding: 'sse',
        timeout: '1h',
        backend: [{ url_pattern: '/events', encoding: 'sse' }],
        ...more.stream,
      },
      {
        endpoint: '/download',
        output_encoding: 'no-op',
        timeout: '1h',
        backend: [{ url_pattern: '/events', encoding: 'no-op' }],
      },
      { endpoint: '/other', backend: [{ url_pattern: '/other' }], ...more.other },
    ],
  });

  beforeEach(async () => {
    sources = [];
    backend = await startBackend((seen, response) => {
      if (seen.target !== '/events') return json({ ok: true })(seen, response);
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write('data: {"first":true}\n\n');
      sources.push(response);
    });
    gateway = await startGateway(config());
    ({ port } = await gateway.listen());
  });

  afterEach(async () => {
    for (const stream of streams.splice(0)) stream.leave();
    await gateway.close();
    await backend.close();
  });

  async function listenTo(path: string): Promise<StreamedResponse> {
    const stream = await openStream(port, path);
    streams.push(stream);
    await stream.until('first');
    return stream;
  }

  for (const path of ['/events', '/download']) {
    it(`continue on ${path} through changes of other endpoints, and do not keep old configurations in memory`, async () => {
      const stream = await listenTo(path);
      for (let seconds = 1; seconds <= 20; seconds++)
        await gateway.reload(config({ other: { timeout: `${seconds}s` } }));
      await until(() => gateway.status.draining === 0);
      sources[0]!.write('data: {"second":true}\n\n');
      await stream.until('second');
      equal(gateway.status.streams, 1);
    });
  }

  it('are counted before and after a reload', async () => {
    await listenTo('/events');
    equal(gateway.status.streams, 1);
    await gateway.reload(config({ other: { timeout: '7s' } }));
    equal(gateway.status.streams, 1);
  });

  it('end normally some time after their endpoint has changed', async () => {
    const stream = await listenTo('/events');
    await gateway.reload(config({ stream: { timeout: '2h' } }));
    equal(await stream.ended(), true);
    await until(() => gateway.status.streams === 0);
    await until(() => sources[0]!.destroyed);
  });

  it('end normally some time after their endpoint was removed', async () => {
    const stream = await listenTo('/events');
    const { endpoints, ...service } = config();
    await gateway.reload({ ...service, endpoints: endpoints.slice(1) });
    equal(await stream.ended(), true);
  });

  it('continue if their endpoint is restored in time', async () => {
    const slow = { reload: { stream_drain: '1h' } };
    const stream = await listenTo('/events');
    await gateway.reload(config({ stream: { timeout: '2h' }, ...slow }));
    await gateway.reload(config());
    await gateway.reload(config({ other: { timeout: '9s' } }));
    sources[0]!.write('data: {"second":true}\n\n');
    await stream.until('second');
  });

  it('include a request that becomes a stream after its configuration was replaced', async () => {
    let begin = (): void => {};
    const late = await startBackend((_seen, response) => {
      begin = () => {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        response.write('data: {"first":true}\n\n');
      };
    });
    const withLate = (timeout: string) =>
      config({ stream: { backend: [{ host: [late.url], url_pattern: '/', encoding: 'sse' }], timeout } });
    await gateway.reload(withLate('1h'));
    const opening = openStream(port, '/events');
    await until(() => late.requests.length === 1);
    await gateway.reload(withLate('2h'));
    begin();
    const stream = await opening;
    streams.push(stream);
    equal(await stream.ended(), true);
    await late.close();
  });
});

describe('requests of a replaced configuration', () => {
  it('are aborted with 503 if they take longer than drain_timeout', async () => {
    const backend = await startBackend(() => {});
    const config = (name: string) => ({
      name,
      version: 3,
      extra_config: { 'admin/reload': { drain_timeout: '20ms' } },
      endpoints: [{ endpoint: '/never', timeout: '1h', backend: [{ host: [backend.url], url_pattern: '/' }] }],
    });
    const gateway = await startGateway(config('one'));
    const { port } = await gateway.listen();
    const response = fetch(`http://127.0.0.1:${port}/never`);
    await until(() => backend.requests.length === 1);
    await gateway.reload(config('two'));
    equal((await response).status, 503);
    await until(() => gateway.status.draining === 0);
    equal(gateway.processes.aborted, 1);
    await gateway.close();
    await backend.close();
  });

  it('finish with the configuration that they began with if they end before drain_timeout', async () => {
    let release = (): void => {};
    const backend = await startBackend((seen, response) => {
      release = () => json({ late: true })(seen, response);
    });
    const config = (name: string) => ({
      name,
      version: 3,
      endpoints: [{ endpoint: '/slow', timeout: '1h', backend: [{ host: [backend.url], url_pattern: '/' }] }],
    });
    const gateway = await startGateway(config('one'));
    const { port } = await gateway.listen();
    const response = fetch(`http://127.0.0.1:${port}/slow`);
    await until(() => backend.requests.length === 1);
    await gateway.reload(config('two'));
    deepEqual(
      gateway.processes.held.map(({ revision, requests }) => [revision, requests]),
      [
        [2, 0],
        [1, 1],
      ],
    );
    release();
    deepEqual(await (await response).json(), { late: true });
    await until(() => gateway.status.draining === 0);
    equal(gateway.processes.aborted, 0);
    await gateway.close();
    await backend.close();
  });
});
