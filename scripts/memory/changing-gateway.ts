import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Configuration, createGateway, type Gateway } from '../../kernel/sluice.ts';
import { silentSinks } from '../../kernel/testing/index.ts';

/** A gateway whose configuration is replaced repeatedly, with one request after each change. */
export interface ChangingGateway {
  /** Applies another configuration; before every tenth one, a rejected configuration is tried. */
  change(): Promise<void>;
  close(): Promise<void>;
}

/** A configuration without streams: several components per endpoint, settings that differ between changes, and a warning. */
function configuration(endpoints: number, change: number, backend: string): Configuration {
  return {
    version: 3,
    port: 0,
    listen_ip: '127.0.0.1',
    name: `change ${change}`,
    host: [backend],
    endpoints: Array.from({ length: endpoints }, (_, at) => ({
      endpoint: `/items-${at}/{id}`,
      method: at === 0 ? 'GET' : 'POST',
      timeout: `${2 + ((at + change) % 3)}s`,
      backend: [
        {
          url_pattern: `/items-${at}/{id}`,
          allow: ['id', 'name'],
          extra_config: { 'qos/circuit-breaker': { interval: 60, timeout: 10, max_errors: 3, name: `items-${at}` } },
        },
      ],
      extra_config: {
        'qos/ratelimit/router': { max_rate: 1_000_000 + (change % 7), client_max_rate: 1_000_000, strategy: 'ip' },
        // Endpoint 0 takes no body, so the validation of its body causes a warning.
        'validation/json-schema': { type: 'object', properties: { id: { type: 'string' } }, maxProperties: change + 1 },
      },
    })),
    extra_config: { 'telemetry/logging': { level: 'ERROR', stdout: true } },
  };
}

export async function openChangingGateway(endpoints: number): Promise<ChangingGateway> {
  const backend = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"id":1}');
  });
  await listening(backend);
  const host = `http://127.0.0.1:${(backend.address() as AddressInfo).port}`;
  const gateway: Gateway = await createGateway(configuration(endpoints, 0, host), { sinks: silentSinks });
  const { port } = await gateway.listen();
  let changes = 0;
  return {
    async change() {
      changes++;
      if (changes % 10 === 0) {
        const broken = { ...configuration(endpoints, changes, host), nmae: 'a typo' };
        await gateway.reload(broken).then(
          () => Promise.reject(new Error('a broken configuration was applied')),
          () => {},
        );
      }
      await gateway.reload(configuration(endpoints, changes, host));
      const response = await fetch(`http://127.0.0.1:${port}/items-1/7`, { method: 'POST', body: '{"id":"7"}' });
      if (response.status !== 200) throw new Error(`answered ${response.status}`);
      await response.arrayBuffer();
    },
    async close() {
      await gateway.close();
      backend.closeAllConnections();
      backend.close();
    },
  };
}

function listening(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
}
