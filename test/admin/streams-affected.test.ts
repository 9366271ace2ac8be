import { deepEqual, equal } from 'node:assert/strict';
import type { GatewayOptions } from '../../kernel/sluice.ts';
import { until } from '../support/conditions.ts';
import { json, startBackend, type TestBackend } from '../support/gateway.ts';
import { bundledProgram } from '../support/programs.ts';
import { openStream, type StreamedResponse } from '../support/stream-client.ts';
import { openAdmin, type TestAdmin } from './support.ts';

const program = bundledProgram();

const setups: Readonly<Record<string, GatewayOptions>> = {
  'of one process': {},
  'of several processes': { workers: { count: 2, program, args: [] } },
};

for (const [name, gatewayOptions] of Object.entries(setups)) {
  describe(`the number of streams ${name} that a change would end`, function () {
    this.timeout(30_000);
    let backend: TestBackend;
    let one: TestAdmin;
    const streams: StreamedResponse[] = [];

    const config = (timeout = '1h', other = '2s') => ({
      version: 3,
      host: [backend.url],
      endpoints: [
        {
          endpoint: '/events',
          output_encoding: 'sse',
          timeout,
          backend: [{ url_pattern: '/events', encoding: 'sse' }],
        },
        { endpoint: '/other', timeout: other, backend: [{ url_pattern: '/other' }] },
      ],
    });

    before(async () => {
      backend = await startBackend((seen, response) => {
        if (seen.target !== '/events') return json({ ok: true })(seen, response);
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        response.write('data: {"first":true}\n\n');
      });
      one = await openAdmin(config(), { gateway: gatewayOptions });
      const { port } = await one.gateway.listen();
      for (let count = 0; count < 3; count++) {
        const stream = await openStream(port, '/events');
        await stream.until('first');
        streams.push(stream);
      }
    });
    after(async () => {
      for (const stream of streams) stream.leave();
      await one.close();
      await backend.close();
    });

    const affected = async (body: object): Promise<number> =>
      (await one.ask('/v1/config/diff', { method: 'POST', body })).body.streamsAffected;

    it('includes the streams of the endpoints that it changes', () =>
      until(async () => (await affected(config('2h'))) === 3));

    it('counts streams that GET /v1/routes lists at their endpoint', async () => {
      const { routes } = (await one.ask('/v1/routes')).body;
      const streams = routes.map(({ id, counters }: { id: string; counters: { streams: number } }) => [
        id,
        counters.streams,
      ]);
      deepEqual(Object.fromEntries(streams), { 'GET /events': 3, 'GET /other': 0 });
    });

    it('excludes the streams of other endpoints', async () => equal(await affected(config('1h', '3s')), 0));

    it('includes streams that began under an earlier configuration', async () => {
      await one.ask('/v1/config', { method: 'PUT', body: config('1h', '3s') });
      await until(async () => (await affected(config('2h', '3s'))) === 3);
    });
  });
}
