import { deepEqual, equal, match } from 'node:assert/strict';
import { json, startBackend, startGateway } from '../../support/gateway.ts';
import { ask } from './ask.ts';

describe('header names of KrakenD', () => {
  it('are used in responses and requests to backends if the router enables them', async () => {
    const backend = await startBackend(json({ a: 1 }));
    const gateway = await startGateway({
      host: [backend.url],
      extra_config: { router: { compatible_headers: true } },
      endpoints: [
        { endpoint: '/x', backend: [{ url_pattern: '/' }] },
        { endpoint: '/raw', output_encoding: 'no-op', backend: [{ url_pattern: '/' }] },
      ],
    });
    try {
      const { port } = await gateway.listen();
      const cases = [
        ['/x', 'true'],
        ['/raw', 'false'],
        ['/none', 'false'],
        ['/__health', undefined],
      ] as const;
      for (const [path, completed] of cases) {
        const { headers } = await ask(port, `GET ${path}`);
        match(String(headers['x-krakend']), /^Version \d/);
        deepEqual([headers['x-krakend-completed'], headers['x-gateway']], [completed, undefined], path);
      }
      match(String(backend.requests[0]!.headers['user-agent']), /^KrakenD Version \d/);
      equal(backend.requests.length, 2);
    } finally {
      await gateway.close();
      await backend.close();
    }
  });
});
