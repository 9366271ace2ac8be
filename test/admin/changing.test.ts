import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { type AddressInfo, createServer } from 'node:net';
import { GatewayError } from '../../kernel/contract/internal.ts';
import type { GatewayOptions } from '../../kernel/sluice.ts';
import { type Ask, config, openAdmin, type TestAdmin } from './support.ts';

describe('a configuration change over the admin API', () => {
  let one: TestAdmin;
  beforeEach(async () => {
    one = await openAdmin();
  });
  afterEach(() => one.close());

  const put = (body: object, query = '', headers: Ask['headers'] = {}) =>
    one.ask(`/v1/config${query}`, { method: 'PUT', body, headers });

  /** Pauses every change before its swap until the test releases it. */
  function hold() {
    const began = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    one.gateway.join({
      async prepare() {
        began.resolve();
        await release.promise;
        return { commit() {}, abort() {} };
      },
    });
    return { began: began.promise, release: release.resolve };
  }

  /** Makes the next changes fail before their swap. */
  function fail(error: Error): void {
    one.gateway.join({ prepare: () => Promise.reject(error) });
  }

  it('is applied, and the response has its result, revision and changes', async () => {
    const { status, headers, body } = await put(config('/a', '/b'));
    equal(status, 200);
    equal(headers['gateway-revision'], '2');
    equal(headers['etag'], `"2-${body.hash.slice(0, 12)}"`);
    const { durationMs, phases, hash, ...reported } = body;
    deepEqual(Object.keys(phases).sort(), ['build', 'prepare', 'read', 'render', 'swap', 'validate', 'warmup']);
    match(hash, /^[\da-f]{64}$/);
    ok(Number.isInteger(durationMs));
    deepEqual(reported, {
      result: 'applied',
      revision: 2,
      previous: 1,
      attempt: 2,
      changes: { added: ['GET /b'], changed: [], removed: [] },
      rebound: [],
      requiresRestart: [],
      warnings: [],
      guard: null,
      replay: null,
      shadow: null,
      workers: { prepared: 1, committed: 1 },
    });
  });

  it('serves the next request', async () => {
    await put(config('/b'));
    equal((await one.gateway.inject('/b')).statusCode, 500);
    equal((await one.gateway.inject('/a')).statusCode, 404);
  });

  it('without a difference keeps the revision and its ETag', async () => {
    const before = (await one.ask('/v1/config')).headers['etag'];
    const { status, headers, body } = await put(config());
    deepEqual([status, body.result, body.revision, headers['etag']], [200, 'unchanged', 1, before]);
  });

  it('without a difference creates a new revision if forced', async () => {
    const { body } = await put(config(), '?force=true');
    deepEqual([body.result, body.revision], ['applied', 2]);
  });

  it('runs every step except the activation in a dry run', async () => {
    const { headers, body } = await put(config('/b'), '?dry_run=true');
    deepEqual([body.result, body.revision, body.changes.added], ['dry_run', 1, ['GET /b']]);
    match(String(headers['etag']), /^"1-/);
    equal((await one.gateway.inject('/b')).statusCode, 404);
  });

  it('with the configuration that the API returned changes nothing', async () => {
    const { text } = await one.ask('/v1/config');
    equal((await one.ask('/v1/config', { method: 'PUT', body: text })).body.result, 'unchanged');
  });

  it('is rejected without a body', async () => equal((await one.ask('/v1/config', { method: 'PUT' })).status, 400));

  it('is rejected with every error, and the old configuration continues to serve', async () => {
    const { status, headers, body } = await put(config('/user/{a}', '/user/{b}/x'));
    equal(status, 422);
    equal(headers['gateway-revision'], '1');
    deepEqual([body.type, body.phase, body.revision, body.attempt], ['urn:gateway:problem:routes', 'validate', 1, 2]);
    equal(one.gateway.status.revision, 1);
  });

  it('records the token that made it and its message', async () => {
    await put(config('/b'), '?message=for%20the%20launch');
    const [newest] = one.gateway.revisions.list();
    deepEqual([newest!.actor, newest!.message, newest!.source], ['environment', 'for the launch', 'api']);
  });

  describe('with If-Match', () => {
    it('is applied if the tag names the active revision', async () => {
      const { headers } = await one.ask('/v1/config');
      equal((await put(config('/b'), '', { 'if-match': `"x", ${headers['etag']}` })).status, 200);
      equal((await put(config('/c'), '', { 'if-match': '*' })).status, 200);
    });

    it('is rejected if the tag names another revision; the response has the current tag', async () => {
      const { headers: old } = await one.ask('/v1/config');
      const { headers: present } = await put(config('/b'));
      const { status, headers, body } = await put(config('/c'), '', { 'if-match': old['etag']! });
      equal(status, 412);
      equal(headers['etag'], present['etag']);
      deepEqual([body.type, body.revision], ['urn:gateway:problem:stale', 2]);
      equal(one.gateway.status.revision, 2);
    });

    it('is rejected for a weak tag', async () => {
      const { headers } = await one.ask('/v1/config');
      equal((await put(config('/b'), '', { 'if-match': `W/${headers['etag']}` })).status, 412);
    });

    it('is applied for only one of two concurrent requests with the same tag', async () => {
      const { headers } = await one.ask('/v1/config');
      const sent = ['/b', '/c'].map((path) => put(config(path), '', { 'if-match': headers['etag']! }));
      const statuses = (await Promise.all(sent)).map(({ status }) => status).sort();
      deepEqual(statuses, [200, 412]);
      equal(one.gateway.status.revision, 2);
    });

    it('is accepted if require_if_match is set, which rejects changes without this header', async () => {
      await one.gateway.reload({ ...config(), extra_config: { 'admin/api': { require_if_match: true } } });
      const { status, body } = await put(config('/b'));
      equal(status, 428);
      equal(body.type, 'urn:gateway:problem:precondition-required');
      equal((await put(config('/b'), '', { 'if-match': '*' })).status, 200);
    });
  });

  describe('while another change is applied', () => {
    it('waits for that change', async () => {
      const { began, release } = hold();
      const first = put(config('/b'));
      await began;
      const second = put(config('/c'));
      release();
      deepEqual([(await first).body.revision, (await second).body.revision], [2, 3]);
    });

    it('is rejected at once with wait=0', async () => {
      const { began, release } = hold();
      const first = put(config('/b'));
      await began;
      const { status, headers, body } = await put(config('/c'), '?wait=0');
      equal(status, 409);
      equal(body.type, 'urn:gateway:problem:reload-in-progress');
      equal(headers['retry-after'], '1');
      release();
      equal((await first).status, 200);
    });

    it('is rejected when its wait time is over', async () => {
      const { began, release } = hold();
      const first = put(config('/b'));
      await began;
      equal((await put(config('/c'), '?wait=0.05')).status, 409);
      release();
      await first;
    });
  });

  describe('with Prefer: respond-async', () => {
    it('returns 202 with the address of its result', async () => {
      const { began, release } = hold();
      const response = await put(config('/b'), '', { prefer: 'respond-async' });
      await began;
      equal(response.status, 202);
      equal(response.headers['location'], '/v1/attempts/2');
      equal(response.headers['preference-applied'], 'respond-async');
      equal((await one.ask('/v1/attempts/2')).body.result, 'running');
      const done = Promise.withResolvers<void>();
      one.gateway.events.subscribe({ types: ['reload.succeeded'] }, () => done.resolve());
      release();
      await done.promise;
      equal((await one.ask('/v1/attempts/2')).body.result, 'applied');
    });

    it('is rejected at once if its tag is stale', async () => {
      equal((await put(config('/b'), '', { prefer: 'respond-async', 'if-match': '"0-0"' })).status, 412);
    });

    it('stores the reason for a rejection', async () => {
      const failed = Promise.withResolvers<void>();
      one.gateway.events.subscribe({ types: ['reload.failed'] }, () => failed.resolve());
      const { status, headers } = await put({ version: 3, endpoints: 1 }, '', { prefer: 'wait=5, respond-async' });
      equal(status, 202);
      await failed.promise;
      const { body } = await one.ask(headers['location']!);
      deepEqual([body.result, body.problem.status, body.problem.errors[0].pointer], ['failed', 422, '/endpoints']);
    });
  });

  describe('that fails in its last steps', () => {
    it('is answered 424 with the pointer of a port that is in use, and the old port continues to serve', async () => {
      const [own, taken] = [createServer(), createServer()];
      for (const server of [own, taken]) await new Promise<void>((resolve) => void server.listen(0, resolve));
      const [ownPort, takenPort] = [own, taken].map((server) => (server.address() as AddressInfo).port);
      own.close();
      const two = await openAdmin({ ...config(), port: ownPort }, { gateway: { port: undefined } as GatewayOptions });
      const text = JSON.stringify({ ...config(), port: takenPort }, null, 1);
      const { status, body } = await two.ask('/v1/config', { method: 'PUT', body: text });
      const [{ code, pointer, line, column }] = body.errors;
      deepEqual([status, body.type, code, pointer], [424, 'urn:gateway:problem:warmup', 'LISTENER_BIND', '/port']);
      const lines = text.split('\n');
      const at = lines.findIndex((one) => one.includes(`"port"`));
      deepEqual([line, column], [at + 1, lines[at]!.indexOf(String(takenPort)) + 1]);
      equal((await fetch(`http://127.0.0.1:${ownPort}/__health`)).status, 200);
      taken.close();
      await two.close();
    });

    it('is answered 504 if not all processes were ready in time', async () => {
      fail(new GatewayError('PREPARE_TIMEOUT', 'worker 3 was not ready in time'));
      const { status, body } = await put(config('/b'));
      equal(status, 504);
      deepEqual(
        [body.type, body.phase, body.detail],
        ['urn:gateway:problem:timeout', 'prepare', 'worker 3 was not ready in time'],
      );
      equal(one.gateway.status.revision, 1);
    });

    it('is answered 500 for an internal error; its details are only logged', async () => {
      fail(new TypeError('the secret cause'));
      const { status, text, body } = await put(config('/b'));
      equal(status, 500);
      equal(body.type, 'urn:gateway:problem:internal');
      equal(body.detail, 'An internal error; revision 1 stays active.');
      ok(!text.includes('secret cause'));
      match(one.lines.join('\n'), /the secret cause/);
      equal((await one.ask(`/v1/attempts/${body.attempt}`)).body.problem.detail, body.detail);
    });

    it('is answered 409 if the gateway stops during the change', async () => {
      await one.gateway.close();
      const { status, body } = await put(config('/b'));
      equal(status, 409);
      equal(body.type, 'urn:gateway:problem:draining');
    });
  });

  it('is rejected under disable_write, except for a reload', async () => {
    await one.gateway.reload({ ...config(), extra_config: { 'admin/api': { disable_write: true } } });
    const refused = [
      await put(config('/b')),
      await one.ask('/v1/config', { method: 'PATCH', headers: { 'if-match': '*' }, body: {} }),
      await one.ask('/v1/revisions/1/rollback', { method: 'POST' }),
    ];
    for (const { status, body } of refused) {
      deepEqual([status, body.type], [403, 'urn:gateway:problem:writes-disabled']);
    }
    equal((await one.ask('/v1/reload', { method: 'POST' })).status, 200);
    equal((await one.ask('/v1/check', { method: 'POST', body: config() })).status, 200);
  });

  it('is guarded (rolled back if errors increase) if the request has guard parameters', async () => {
    const { body, headers } = await put(config('/b'), '?guard=60s&guard_errors=1&guard_p99=3&guard_calls=7');
    const { guard } = body;
    deepEqual(
      { ...guard, endsAt: '' },
      {
        state: 'watching',
        revision: 2,
        attempt: body.attempt,
        endsAt: '',
        reason: null,
        rolledBackTo: null,
      },
    );
    ok(Date.parse(guard.endsAt) > Date.now() + 50_000);
    deepEqual((await one.ask(headers.location!)).body.guard, guard);
    deepEqual((await one.ask('/v1/status')).body.guard, guard);
  });

  it('is guarded for the rest of the guard period if its configuration is already active', async () => {
    await put(config('/b'));
    const { body, headers } = await put(config('/b'), '?guard=60s');
    deepEqual([body.result, body.guard.state, body.guard.revision], ['unchanged', 'watching', 2]);
    equal(headers.location, `/v1/attempts/${body.attempt}`);
  });

  it('is not guarded without guard parameters', async () => {
    const { body, headers } = await put(config('/b'));
    deepEqual([body.guard, headers.location], [null, undefined]);
    equal((await one.ask('/v1/status')).body.guard, null);
  });
});
