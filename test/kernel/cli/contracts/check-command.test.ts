import { deepEqual, equal, match } from 'node:assert/strict';
import { createFolder, type Folder, sluice } from '../command.ts';
import { type RecordedCall, recordingOf } from './recording.ts';

/** A user as the backend returns it: `nickname` is optional, and every 20th user does not exist. */
function userOf(id: number): RecordedCall {
  const place = { path: `/users/${id}`, endpoint: 'GET /users/{user}', url: `http://users:8000/v1/${id}` };
  if (id % 20 === 0) return { ...place, status: 404 };
  const shown = {
    id,
    name: `User ${id}`,
    created: '2026-01-02T03:04:05Z',
    role: id % 3 === 0 ? 'admin' : 'member',
    ...(id % 5 === 0 && { nickname: 'Ada' }),
    tags: [{ label: 'a', weight: id / 2 }],
  };
  return { ...place, body: { ...shown, password: 'secret' }, shown };
}

const calls = Array.from({ length: 300 }, (_, at) => userOf(at + 1));

const backend = {
  host: ['http://users:8000'],
  url_pattern: '/v1/{user}',
  deny: ['password'],
  extra_config: { 'backend/http': { return_error_code: true } },
};

/** A script that changes the data of a response. */
const lua = (post: string) => ({ extra_config: { 'modifier/lua-proxy': { post, allow_open_libs: true } } });

interface Broken {
  readonly kind: string;
  readonly endpoint: string;
  readonly status: number | null;
  readonly at: string;
  readonly shown: string;
  readonly example: string | null;
  readonly known: boolean;
}

describe('sluice contracts check', function () {
  this.timeout(60_000);
  let folder: Folder;
  let recording: string;
  before(async () => {
    folder = createFolder();
    recording = folder.write('traffic.har', recordingOf(calls));
    const { code, err } = await sluice(
      'contracts',
      'infer',
      recording,
      '--enums',
      '--contracts',
      folder.path('contracts'),
    );
    equal(code, 0, err);
  });
  after(() => folder.remove());

  /** Writes a configuration. @param change of the backend. @param more fields of the endpoint. */
  const config = (change: object = {}, more: object = {}) => {
    const endpoint = { endpoint: '/users/{user}', backend: [{ ...backend, ...change }], ...more };
    return folder.write('next.json', { version: 3, endpoints: [endpoint] });
  };
  const check = (file: string, ...args: string[]) =>
    sluice('contracts', 'check', recording, '-c', file, '--contracts', folder.path('contracts'), ...args);
  const resultOf = async (file: string, ...args: string[]) => {
    const { code, out, err } = await check(file, '--format', 'json', ...args);
    equal(err, '');
    return { code, ...(JSON.parse(out) as { breaking: Broken[]; added: Broken[]; masked: number; requests: number }) };
  };
  /** Breaking changes, without the endpoint. */
  const breaksOf = async (file: string) => {
    const { code, breaking } = await resultOf(file);
    equal(code, breaking.length > 0 ? 1 : 0);
    return breaking.map(({ kind, status, at, shown }) => [kind, status, at, shown].join(' ').trim());
  };

  it('exits 0 for the configuration of the recording', async () => {
    const { code, out } = await check(config());
    equal(code, 0, out);
    equal(out, '0 breaking changes, 0 compatible changes: 300 requests, 1 contract\n');
  });

  it('accepts another name of a path parameter', async () => {
    deepEqual(await breaksOf(config({ url_pattern: '/v1/{id}' }, { endpoint: '/users/{id}' })), []);
  });

  it('accepts added fields, and lists them', async () => {
    const { code, out } = await check(config({ deny: [] }));
    equal(code, 0);
    match(out, /^ {2}compatible {2}200 field added: password \(string\)$/m);
  });

  it('finds removed fields, with a request that shows them', async () => {
    const { breaking } = await resultOf(config({ deny: ['password', 'name', 'nickname'] }));
    deepEqual(
      breaking.map(({ kind, at, example }) => [kind, at, example]),
      [
        ['removed', 'name', 'GET /users/1'],
        ['removed', 'nickname', 'GET /users/5'],
      ],
    );
  });

  it('finds removed fields of items', async () => {
    deepEqual(await breaksOf(config({ deny: ['password', 'tags.weight'] })), []);
    const script = 'local data = response.load():data(); local tag = data:get("tags"):get(0); tag:del("weight")';
    deepEqual(await breaksOf(config({}, lua(script))), ['removed 200 tags[].weight']);
  });

  it('finds changed types', async () => {
    const script = 'local data = response.load():data(); data:set("id", tostring(data:get("id")))';
    deepEqual(await breaksOf(config({}, lua(script))), ['type 200 id integer → string']);
  });

  it('finds fields that became nullable or optional', async () => {
    const nulled = 'merge(@, { name: (id > `9` && name) || `null` })';
    deepEqual(await breaksOf(config({}, { extra_config: { 'modifier/jmespath': { expr: nulled } } })), [
      'nullable 200 name',
    ]);
    const deleted = 'local data = response.load():data(); if data:get("role") == "admin" then data:del("name") end';
    deepEqual(await breaksOf(config({}, lua(deleted))), ['optional 200 name']);
  });

  it('finds changed formats, and values that an enum does not have or no longer has', async () => {
    const date = 'local data = response.load():data(); data:set("created", "yesterday")';
    deepEqual(await breaksOf(config({}, lua(date))), ['format 200 created not date-time']);
    const role = 'local data = response.load():data(); data:set("role", "root")';
    deepEqual(await breaksOf(config({}, lua(role))), [
      'enum 200 role "root"',
      'no-value 200 role "admin"',
      'no-value 200 role "member"',
    ]);
  });

  it('finds statuses that are not in the contract, and statuses that are no longer returned', async () => {
    const plain = { extra_config: {} };
    deepEqual(await breaksOf(config(plain)), ['status 500  200, 404 → 500', 'no-status 404']);
  });

  it('finds changed content types', async () => {
    deepEqual(await breaksOf(config({}, { output_encoding: 'yaml' })), [
      'content-type 200  application/json → application/yaml',
    ]);
  });

  it('finds removed endpoints, changed encodings, and changed fields of endpoints without a request', async () => {
    deepEqual(await breaksOf(config({ url_pattern: '/v1/{id}' }, { endpoint: '/people/{id}' })), ['endpoint']);
    const other = folder.write(
      'empty.har',
      recordingOf([{ path: '/x', endpoint: 'GET /x', url: 'http://users:8000/x', body: {} }]),
    );
    const file = config({}, { output_encoding: 'yaml' });
    const { code, out } = await sluice(
      'contracts',
      'check',
      other,
      '-c',
      file,
      '--contracts',
      folder.path('contracts'),
    );
    equal(code, 1);
    match(out, /breaking {2}200 content type changed \(application\/json → application\/yaml\)/);
    match(out, /^1 contract without a request: GET \/users\/\{user\}$/m);
    const limited = config({ allow: ['id', 'name'], extra_config: {} });
    const checked = await sluice('contracts', 'check', other, '-c', limited, '--contracts', folder.path('contracts'));
    match(checked.out, /^ {2}breaking {2}200 field removed: tags$/m);
  });

  it('does not compare requests whose credentials are masked in the recording', async () => {
    const headers = { 'X-Key': '***' };
    const guarded = folder.write('guarded.har', recordingOf(calls.slice(0, 3).map((call) => ({ ...call, headers }))));
    const keys = { 'auth/api-keys': { keys: [{ key: 'secret-key-1', roles: ['user'] }] } };
    const endpoint = { endpoint: '/users/{user}', backend: [backend] };
    const auth = { 'auth/api-keys': { roles: ['user'], identifier: 'X-Key' } };
    const file = folder.write('keys.json', {
      version: 3,
      extra_config: keys,
      endpoints: [{ ...endpoint, extra_config: auth }],
    });
    const args = ['--contracts', folder.path('contracts')];
    const { code, out } = await sluice('contracts', 'check', guarded, '-c', file, ...args);
    equal(code, 0, out);
    match(out, /^3 requests not compared: credentials are masked in the recording$/m);
    match((await check(file)).out, /status not in the contract \(200, 404 → 401\)/);
  });

  it('names backend calls that the recording does not contain', async () => {
    const { code, out } = await check(config({ url_pattern: '/v2/{user}' }));
    equal(code, 1);
    match(out, /^1 request: the recording does not contain the call GET http:\/\/users:8000\/v2\/1$/m);
  });

  it('marks differences that the responses of the baseline configuration also have', async () => {
    const changed = config({ deny: ['name'] });
    const baseline = folder.write('old.json', folder.read('next.json'));
    const { breaking } = await resultOf(changed, '--baseline', baseline);
    deepEqual(
      breaking.map(({ at, known }) => [at, known]),
      [['name', true]],
    );
    match((await check(changed, '--baseline', baseline)).out, /^ {4}also in the responses before the change$/m);
  });

  it('compares the contracts with the responses that tests receive', async () => {
    const tests = folder.write('users.test.json', {
      backends: { users: { url: '/v1/**', response: { body: { id: 'x', role: 'admin' } } } },
      tests: [{ name: 'a user', request: { path: '/users/1' } }],
    });
    const { code, out } = await sluice(
      ...['contracts', 'check', tests, '-c', config(), '--contracts', folder.path('contracts')],
    );
    equal(code, 1);
    match(out, /type changed: id \(integer → string\)/);
    match(out, /field removed: name/);
    match(out, /^3 breaking|^[45] breaking/m);
  });

  it('writes JUnit, and annotations at the line of the endpoint', async () => {
    const file = config({ deny: ['password', 'name'] });
    const junit = await check(file, '--format', 'junit');
    match(junit.out, /<testsuite name="[^"]*" tests="1" failures="1"/);
    match(junit.out, /<failure message="200 field removed: name">/);
    match((await check(config(), '--format', 'junit')).out, /failures="0"/);
    const github = await check(config({ deny: ['password', 'name'] }), '--format', 'github');
    match(
      github.out,
      /^::error file=[^,]*next\.json,line=4,col=\d+,title=CONTRACT_BROKEN::GET \/users\/\{user\}: 200 field removed: name$/m,
    );
  });

  it('rejects contracts that are not valid, with their position', async () => {
    const other = createFolder();
    try {
      other.write('one.json', {
        endpoint: '/x',
        method: 'GET',
        responses: { 200: { samples: 1, schema: { typ: 'object' } } },
      });
      const { code, err } = await sluice(
        'contracts',
        'check',
        recording,
        '-c',
        config(),
        '--contracts',
        other.path(''),
      );
      equal(code, 1);
      match(err, /one\.json:\d+:\d+/);
      match(err, /typ/);
    } finally {
      other.remove();
    }
  });

  it('counts requests whose recording is incomplete, and rejects a folder without contracts', async () => {
    const { log } = recordingOf(calls.slice(0, 2)) as { log: { entries: { _sluice: object }[] } };
    Object.assign(log.entries[1]!._sluice, { omitted: { response: 'too long' } });
    const incomplete = folder.write('incomplete.har', { log });
    const checking = ['contracts', 'check', incomplete, '-c', config(), '--contracts'];
    match(
      (await sluice(...checking, folder.path('contracts'))).out,
      /^1 request not compared: the recording is incomplete$/m,
    );
    const empty = createFolder();
    try {
      const { code, err } = await sluice(...checking, empty.path(''));
      equal(code, 1);
      match(err, /^ERROR .* contains no contracts$/m);
    } finally {
      empty.remove();
    }
  });
});
