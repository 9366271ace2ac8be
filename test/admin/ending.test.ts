import { deepEqual, equal } from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { mock } from 'node:test';
import { until } from '../support/conditions.ts';
import { startBackend, type TestBackend } from '../support/gateway.ts';
import { openStream } from '../support/stream-client.ts';
import { config, openAdmin, type TestAdmin } from './support.ts';

describe('the admin API of a gateway that is stopping', () => {
  let backend: TestBackend;
  let one: TestAdmin;
  let held: ServerResponse;
  let ended: Promise<void>;

  beforeEach(async () => {
    const asked = Promise.withResolvers<ServerResponse>();
    backend = await startBackend((_seen, response) => asked.resolve(response));
    one = await openAdmin({
      version: 3,
      endpoints: [{ endpoint: '/slow', timeout: '1h', backend: [{ host: [backend.url], url_pattern: '/' }] }],
    });
    const { port } = await one.gateway.listen();
    // A pending request delays the shutdown.
    openStream(port, '/slow').catch(() => {});
    held = await asked.promise;
    ended = one.gateway.close();
  });
  afterEach(async () => {
    held.end('{}');
    await ended;
    await one.close();
    await backend.close();
  });

  const drainingCalls: Readonly<Record<string, () => ReturnType<TestAdmin['ask']>>> = {
    'a reload': () => one.ask('/v1/reload', { method: 'POST' }),
    'another configuration': () => one.ask('/v1/config', { method: 'PUT', body: config('/b') }),
    'a rollback': () => one.ask('/v1/revisions/1/rollback', { method: 'POST' }),
    'a change that is not waited for': () =>
      one.ask('/v1/reload', { method: 'POST', headers: { prefer: 'respond-async' } }),
    'taking clients again': () => one.ask('/v1/resume', { method: 'POST' }),
  };
  for (const [what, call] of Object.entries(drainingCalls)) {
    it(`rejects a request: ${what}`, async () => {
      const { status, body } = await call();
      deepEqual([status, body.type], [409, 'urn:gateway:problem:draining']);
    });
  }

  it('reports that the gateway is not ready, and that it is draining', async () => {
    equal((await one.ask('/ready')).status, 503);
    equal((await one.ask('/v1/status')).body.state, 'draining');
  });

  it('still responds to read requests', async () => {
    for (const path of ['/live', '/metrics', '/v1/config', '/v1/routes', '/v1/plugins', '/v1/workers', '/v1/audit']) {
      equal((await one.ask(path)).status, 200, path);
    }
  });

  it('still checks configurations, even after the last request has ended', async () => {
    const check = async () => (await one.ask('/v1/check', { method: 'POST', body: config('/b') })).status;
    equal(await check(), 200);
    held.end('{}');
    await ended;
    equal(await check(), 200);
  });

  it('accepts a second stop request', async () => {
    equal((await one.ask('/v1/stop', { method: 'POST' })).status, 202);
  });
});

describe('connections to an admin port that is closing', () => {
  it('do not delay the close if they are idle', async () => {
    const one = await openAdmin();
    const [host, port] = one.admin.address!.split(':') as [string, string];
    const agent = new Agent({ keepAlive: true });
    const sent = request({ host, port, path: '/live', agent }).end();
    const [response] = await once(sent, 'response');
    await once(response.resume(), 'end');
    const silent = connect(Number(port), host);
    await once(silent, 'connect');
    // The time limit for pending responses never expires in this test.
    mock.timers.enable({ apis: ['setTimeout'] });
    await one.close().finally(() => mock.timers.reset());
    agent.destroy();
    silent.destroy();
  });

  it('receive the responses to their pending requests', async () => {
    const one = await openAdmin();
    let isPrepared = false;
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    one.gateway.join({
      async prepare() {
        isPrepared = true;
        await released;
        return { commit() {}, abort() {} };
      },
    });
    const changed = one.ask('/v1/config', { method: 'PUT', body: config('/b') });
    await until(() => isPrepared);
    const closed = one.gateway.close();
    release();
    equal((await changed).status, 200);
    await closed;
    await one.close();
  });
});
