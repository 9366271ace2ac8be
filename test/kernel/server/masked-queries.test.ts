import { deepEqual, equal } from 'node:assert/strict';
import { until } from '../../support/conditions.ts';
import { json, rememberingSinks, startBackend, startGateway } from '../../support/gateway.ts';
import { ask } from './ask.ts';

describe('credentials in query parameters', () => {
  it('appear in no log line, and reach the backend', async () => {
    const backend = await startBackend(json({ a: 1 }));
    const sinks = rememberingSinks();
    const gateway = await startGateway(
      {
        host: [backend.url],
        debug_endpoint: true,
        extra_config: {
          'telemetry/logging': {
            level: 'DEBUG',
            stdout: true,
            access_log_format: 'custom',
            access_log_custom_format: 'ACCESS %{uri} %{query} %{query.token}\n',
            backend: { custom_format: 'BACKEND %{uri} %{query} %{query.token}\n' },
          },
        },
        endpoints: [
          {
            endpoint: '/x',
            input_query_strings: ['token', 'page'],
            backend: [{ url_pattern: '/b' }],
          },
        ],
      },
      { sinks },
    );
    try {
      const { port } = await gateway.listen();
      equal((await ask(port, 'GET /x?token=s3cret&page=2')).status, 200);
      await ask(port, 'GET /__debug/x?token=s3cret&page=2');
      await until(() => sinks.lines.filter((line) => line.includes('page=2')).length > 3);
      deepEqual(
        sinks.lines.filter((line) => line.includes('s3cret')),
        [],
      );
      equal(backend.requests[0]!.target, '/b?page=2&token=s3cret');
    } finally {
      await gateway.close();
      await backend.close();
    }
  });
});
