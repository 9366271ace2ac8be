import { deepEqual, equal, match, ok } from 'node:assert/strict';
import type { ShadowReport } from '../../kernel/control/shadow-report.ts';
import { until } from '../support/conditions.ts';
import { json, startBackend, type TestBackend } from '../support/gateway.ts';
import { command } from '../support/programs.ts';
import { openAdmin, type TestAdmin } from './support.ts';

const user = { id: 1, name: 'Ada', email: 'ada@example.test' };

describe('a shadow run', function () {
  // Each run starts a process.
  this.timeout(60_000);
  let backend: TestBackend;
  let one: TestAdmin;
  before(async () => {
    backend = await startBackend(json(user));
  });
  after(() => backend.close());
  afterEach(() => one.close());

  const source = (allow: readonly string[] | null, more: object = {}) => ({
    version: 3,
    endpoints: [
      { endpoint: '/users/{id}', backend: [{ host: [backend.url], url_pattern: '/v1/users/{id}', ...(allow && { allow }) }], ...more },
    ],
  });

  const put = (query: string, body: object) => one.ask(`/v1/config?${query}`, { method: 'PUT', body });
  const report = async (): Promise<ShadowReport> => (await one.ask('/v1/shadow')).body;
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const { port } = one.gateway.processes;
    return (await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close', ...headers } })).text();
  };

  it('finds a field that becomes visible, without values, and does not apply the configuration', async () => {
    one = await openAdmin(source(['id', 'name']), { gateway: { program: command } });
    const { status, body, text, headers } = await put('shadow=1h&sample=100%', source(null));
    equal(status, 200, text);
    deepEqual([body.result, body.shadow.state, headers['location']], ['dry_run', 'running', `/v1/attempts/${body.attempt}`]);
    for (let id = 1; id <= 3; id++) equal(await get(`/users/${id}`), '{"id":1,"name":"Ada"}');
    await until(async () => (await report()).different === 3);
    console.log(await report());
  });
});
