import { deepEqual, ok } from 'node:assert/strict';
import { createServer, type Server } from 'node:net';
import { Candidate } from '../../../../kernel/cases/shadow/candidate.ts';
import { catalogue } from '../../../../plugins/index.ts';
import { everything } from '../../../everything/config.ts';
import { until } from '../../../support/conditions.ts';
import { setEnvironment } from '../../../support/environment.ts';
import { json, startBackend, type TestBackend } from '../../../support/gateway.ts';

describe('a candidate with every component', function () {
  this.timeout(60_000);
  let backend: TestBackend;
  let trap: Server;
  let connections: number;
  before(async () => {
    connections = 0;
    backend = await startBackend(json({ id: 1, data: { user: { id: 1 } } }));
    trap = createServer((socket) => {
      connections++;
      socket.destroy();
    }).listen(0, '127.0.0.1');
    await until(() => trap.listening);
  });
  after(async () => {
    trap.close();
    await backend.close();
  });

  it('sends only GET and HEAD, and connects to nothing but HTTP backends', async () => {
    const { port } = trap.address() as { port: number };
    const surroundings = {
      upstream: backend.url,
      grpcHost: `127.0.0.1:${port}`,
      redisPort: port,
      gelfPort: port,
      metricsPort: 3,
      revokerPort: port,
    };
    const restore = setEnvironment({ NATS_SERVER_URL: `nats://127.0.0.1:${port}` });
    const config = everything(surroundings) as unknown as { endpoints: { endpoint: string; method?: string }[] };
    const sent = { text: JSON.stringify(config), format: 'json' as const, secrets: [] };
    const order = { next: sent, baseline: sent, pluginFolder: null, denied: [], sendsAnyMethod: false };
    const headers = ['Host', 'localhost:80', 'User-Agent', 'tests'];
    const candidate = await Candidate.open(catalogue, order, { now: () => performance.now(), cpuMs: () => 0 });
    try {
      for (const { endpoint, method = 'GET' } of config.endpoints) {
        if (method !== 'GET' && method !== 'ANY') continue;
        const url = endpoint.replaceAll(/\{\w+\}|\*/g, '1');
        const request = { method: 'GET', url, headers, address: '127.0.0.1', isEncrypted: false };
        await candidate.take({ revision: 1, request, response: { status: 200, headers: [], body: null } });
      }
      ok(candidate.findings.compared > 10, `${candidate.findings.compared} compared`);
      ok(candidate.findings.refusals.length > 0);
    } finally {
      await candidate.close();
      restore();
    }
    deepEqual(connections, 0);
    deepEqual(
      [...new Set(backend.requests.map(({ method }) => method))].filter((method) => !/^(?:GET|HEAD)$/.test(method)),
      [],
    );
    ok(backend.requests.length > 0);
  });
});
