import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../support/conditions.ts';
import { json, startBackend, type TestBackend } from '../support/gateway.ts';
import { command } from '../support/programs.ts';
import { openAdmin, type TestAdmin } from './support.ts';

const user = { id: 1, name: 'Ada', email: 'ada@example.test' };

/** The contract of `/users/{id}`. @param properties of its body, by type; all are required. */
const contractOf = (properties: Readonly<Record<string, string>>) => ({
  endpoint: '/users/{id}',
  method: 'GET',
  responses: {
    200: {
      content_type: 'application/json',
      samples: 9,
      schema: {
        type: 'object',
        properties: Object.fromEntries(Object.entries(properties).map(([name, type]) => [name, { type }])),
        required: Object.keys(properties),
      },
    },
  },
});

describe('a change with contracts=strict', function () {
  // The time limit is raised, because each check starts a process.
  this.timeout(60_000);
  let backend: TestBackend;
  let folder: string;
  let one: TestAdmin;
  before(async () => {
    backend = await startBackend(json(user));
  });
  after(() => backend.close());
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-contracts-'));
  });
  afterEach(async () => {
    await one.close();
    rmSync(folder, { recursive: true });
  });

  const source = (allow: readonly string[], path = '/users/{id}', more: object = {}) => ({
    version: 3,
    extra_config: { 'telemetry/recorder': { sample_rate: 1 }, 'admin/api': { contracts: folder }, ...more },
    endpoints: [{ endpoint: path, backend: [{ host: [backend.url], url_pattern: '/v1/users/{id}', allow }] }],
  });

  /** Opens a gateway that has recorded requests. */
  async function open(contract: object, requests = 3, first: object = source(['id', 'name'])): Promise<void> {
    writeFileSync(join(folder, 'users.json'), JSON.stringify(contract));
    one = await openAdmin(first, { gateway: { program: command } });
    for (let id = 1; id <= requests; id++) equal((await one.gateway.inject(`/users/${id}`)).statusCode, 200);
    const recorded = async () =>
      (await one.ask('/v1/recordings')).text.match(/"url":"http:\/\/localhost/g)?.length ?? 0;
    if (requests > 0) await until(async () => (await recorded()) >= requests);
  }
  const put = (body: object, query = 'contracts=strict') => one.ask(`/v1/config?${query}`, { method: 'PUT', body });
  const fields = { id: 'integer', name: 'string' };

  it('is rejected if it breaks a contract, by endpoint and field, and the previous configuration still serves', async () => {
    await open(contractOf(fields));
    const calls = backend.requests.length;
    const { status, body, text } = await put(source(['id']));
    equal(status, 422, text);
    const [{ code, pointer, message, line }] = body.errors;
    deepEqual([code, pointer], ['CONTRACT_BROKEN', '/endpoints/0']);
    equal(message, 'GET /users/{id}: 200 field removed: name');
    ok(line > 0);
    equal(backend.requests.length, calls);
    equal(one.gateway.status.revision, 1);
    deepEqual(JSON.parse((await one.gateway.inject('/users/1')).body), { id: 1, name: 'Ada' });
  });

  it('is rejected if it removes an endpoint', async () => {
    await open(contractOf(fields));
    const { status, body } = await put(source(['id', 'name'], '/people/{id}'));
    equal(status, 422);
    deepEqual(
      body.errors.map(({ message }: { message: string }) => message),
      ['GET /users/{id}: endpoint removed'],
    );
  });

  it('is applied if it only adds a field', async () => {
    await open(contractOf(fields));
    const { status, body, text } = await put(source(['id', 'name', 'email']));
    equal(status, 200, text);
    equal(body.result, 'applied');
  });

  it('is applied if the active configuration already breaks the contract', async () => {
    await open(contractOf({ ...fields, age: 'integer' }));
    equal((await put(source(['id', 'name', 'email']))).status, 200);
    equal((await put(source(['id', 'email']))).status, 422);
  });

  it('is rejected if contracts cannot be checked', async () => {
    await open(contractOf(fields), 0);
    const unreached = await put(source(['id']));
    equal(unreached.status, 422);
    equal(unreached.body.errors[0].code, 'CONTRACTS_UNCHECKED');
    match(unreached.body.errors[0].message, /no recorded request reaches an endpoint with a contract/);
    writeFileSync(join(folder, 'users.json'), '{}');
    const invalid = await put(source(['id']));
    match(invalid.body.errors[0].message, /users\.json: 'endpoint' is missing$/);
  });

  it('replays recorded requests once if a replay is also requested', async () => {
    await open(contractOf(fields));
    const counts: number[] = [];
    const { recordings } = one.gateway;
    one.gateway.recordings = (count) => {
      counts.push(count);
      return recordings.call(one.gateway, count);
    };
    const added = await put(source(['id', 'name', 'email']), 'contracts=strict&replay=200&dry_run=true');
    equal(added.status, 200, added.text);
    deepEqual(
      added.body.replay.changes.map(({ cause, at, requests }: Record<string, unknown>) => [cause, at, requests]),
      [['visible', 'email', 3]],
    );
    // Each parameter also checks that the gateway records.
    deepEqual(counts, [1, 1, 200]);
    const removed = await put(source(['id']), 'contracts=strict&replay=200');
    deepEqual([removed.status, removed.body.errors[0].code], [422, 'CONTRACT_BROKEN']);
    const strict = await put(source(['id']), 'contracts=strict&replay=strict');
    deepEqual([strict.status, strict.body.errors[0].code], [422, 'REPLAY_DIFFERENCE']);
    counts.length = 0;
    equal((await put(source(['id', 'name', 'email']), 'contracts=strict&replay=2')).body.replay.requests, 2);
    deepEqual(counts, [1, 1, 2, 200]);
  });

  it('is rejected if the gateway has no folder of contracts or does not record traffic', async () => {
    await open(contractOf(fields), 0, source(['id'], undefined, { 'admin/api': {} }));
    const { status, body } = await put(source(['id']));
    deepEqual([status, body.detail], [400, 'contracts=strict requires the setting "contracts" in admin/api']);
    equal((await put(source(['id']), 'contracts=loose')).status, 400);
    equal((await put(source(['id'], undefined, { 'telemetry/recorder': undefined }), '')).status, 200);
    const unrecorded = await put(source(['name']));
    match(unrecorded.body.detail, /requires recorded requests: configure telemetry\/recorder/);
  });
});
