import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '../support/conditions.ts';
import { json, startBackend, type TestBackend } from '../support/gateway.ts';
import { command } from '../support/programs.ts';
import { openAdmin, type TestAdmin } from './support.ts';

const user = { id: 1, name: 'Ada', email: 'ada@example.test' };

describe('the replay before a change', function () {
  // The time limit is raised, because each replay starts a process.
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
    extra_config: { 'telemetry/recorder': { sample_rate: 1 } },
    endpoints: [
      { endpoint: '/fixed', backend: [{ host: [backend.url], url_pattern: '/v1/fixed' }] },
      {
        endpoint: '/users/{id}',
        backend: [{ host: [backend.url], url_pattern: '/v1/users/{id}', ...(allow && { allow }) }],
        ...more,
      },
    ],
  });
  const careful = ['id', 'name'];

  /** Opens a gateway that has recorded requests. */
  async function open(requests = 3, first: object | string = source(careful), options: object = {}): Promise<void> {
    one = await openAdmin(first, { gateway: { program: command, ...options } });
    for (let id = 1; id <= requests; id++) equal((await one.gateway.inject(`/users/${id}`)).statusCode, 200);
    const recorded = async () =>
      (await one.ask('/v1/recordings')).text.match(/"url":"http:\/\/localhost/g)?.length ?? 0;
    await until(async () => (await recorded()) >= requests);
  }
  const put = (query: string, body: object) => one.ask(`/v1/config?${query}`, { method: 'PUT', body });

  it('lists differences, without values, in the response and in the list of attempts', async () => {
    await open();
    const calls = backend.requests.length;
    const { status, body, text } = await put('replay=2', source(null));
    equal(status, 200, text);
    equal(body.result, 'applied');
    const { durationMs, ...replay } = body.replay;
    const settings = [{ op: 'remove', pointer: '/endpoints/1/backend/0/allow' }];
    ok(durationMs > 0);
    deepEqual(replay, {
      strict: false,
      requests: 2,
      incomplete: 0,
      unfaithful: 0,
      changes: [{ endpoint: 'GET /users/{id}', cause: 'visible', at: 'email', requests: 2, settings }],
      accepted: 0,
      hidden: 0,
      failure: null,
    });
    deepEqual((await one.ask(`/v1/attempts/${body.attempt}`)).body.replay, body.replay);
    equal(text.includes('ada@'), false);
    equal(backend.requests.length, calls);
  });

  it('rejects a change with its differences in strict mode, at the endpoint', async () => {
    await open();
    for (const query of ['replay=strict', 'replay=200&replay_mode=strict&dry_run=true']) {
      const { status, body, text } = await put(query, source(null));
      equal(status, 422, text);
      equal(body.type, 'urn:gateway:problem:replay');
      equal(body.phase, 'rehearse');
      const [{ code, pointer, message, line }] = body.errors;
      deepEqual([code, pointer], ['REPLAY_DIFFERENCE', '/endpoints/1']);
      equal(message, 'GET /users/{id}: field became visible: email, in 3 recorded requests');
      ok(line > 0);
    }
    equal(one.gateway.status.revision, 1);
  });

  it('applies a change in strict mode if all differences are accepted', async () => {
    await open();
    const accept = (text: string) => `replay=strict&replay_accept=${encodeURIComponent(text)}`;
    const intended = 'GET /users/{id} visible email';
    equal((await put(accept('GET /users/{id} visible name'), source(null))).status, 422);
    const { status, body, text } = await put(accept(`# intended\n${intended}`), source(null));
    equal(status, 200, text);
    deepEqual([body.replay.accepted, body.replay.changes], [1, []]);
  });

  it('applies a change without differences in strict mode', async () => {
    await open();
    const { status, body, text } = await put('replay=strict', source(['name', 'id'], { timeout: '1s' }));
    equal(status, 200, text);
    deepEqual([body.result, body.replay.requests, body.replay.changes], ['applied', 3, []]);
  });

  it('replays before a dry run and a reload, and not for a configuration that is already active', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-replay-'));
    try {
      const file = join(folder, 'gateway.json');
      writeFileSync(file, JSON.stringify(source(careful)));
      await open(2, file);
      const reload = (query: string) => one.ask(`/v1/reload?${query}`, { method: 'POST' });
      const same = await reload('replay=strict');
      deepEqual([same.body.result, same.body.replay], ['unchanged', null]);
      writeFileSync(file, JSON.stringify(source(['id'])));
      const dry = await reload('replay=10&dry_run=true');
      deepEqual([dry.body.result, dry.body.replay.changes[0].cause], ['dry_run', 'missing']);
      equal((await reload('replay=strict')).status, 422);
      equal((await reload('replay=10')).body.result, 'applied');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('reports a replay that fails, and rejects the change because of it only in strict mode', async () => {
    await open(1, undefined, { program: '/nowhere' });
    const strict = await put('replay=strict', source(null));
    equal(strict.status, 422);
    match(strict.body.errors[0].message, /^the replay failed: /);
    equal(strict.body.errors[0].code, 'REPLAY_FAILED');
    const { status, body } = await put('replay=1', source(null));
    equal(status, 200);
    equal(body.replay.failure, 'the process has ended');
  });

  it('ends when a newer change replaces it', async () => {
    await open(1, undefined, { program: fileURLToPath(new URL('../support/idle.ts', import.meta.url)) });
    const waiting = put('replay=strict', source(null));
    await until(() => one.gateway.attempts.list[0]!.result === 'running');
    equal((await put('', source(['id']))).body.result, 'applied');
    const { status, body } = await waiting;
    equal(status, 422);
    match(body.detail, /newer change/);
  });

  it('rejects unsuitable parameters, and replays of a gateway that does not record', async () => {
    await open(0);
    for (const query of [
      'replay=0',
      'replay=some',
      'replay=10001',
      'replay_mode=strict',
      'replay=1&replay_mode=x',
      'replay_accept=a',
    ]) {
      equal((await put(query, source(null))).status, 400, query);
    }
    await put('', { ...source(null), extra_config: {} });
    const { status, body } = await put('replay=1', source(careful));
    equal(status, 400);
    match(body.detail, /telemetry\/recorder/);
  });

  it('uses the recordings of all workers', async () => {
    const workers = { count: 2, program: command };
    one = await openAdmin(source(careful), { gateway: { program: command, workers, log: false } });
    const { port } = await one.gateway.listen();
    for (let id = 0; id < 8; id++)
      await fetch(`http://127.0.0.1:${port}/users/${id}`, { headers: { connection: 'close' } });
    const count = async () =>
      (await one.ask('/v1/recordings')).text.match(/"url":"http:\/\/127.0.0.1:\d+\/users/g)?.length ?? 0;
    await until(async () => (await count()) === 8);
    const { body } = await put('replay=strict', source(null));
    equal(body.errors[0].message, 'GET /users/{id}: field became visible: email, in 8 recorded requests');
  });
});
