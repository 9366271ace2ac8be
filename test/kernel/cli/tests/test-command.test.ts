// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in a configuration are written so.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import { Ajv } from 'ajv';
import { createFolder, type Folder, sluice } from '../command.ts';
import { startCommand, startProcess } from '../running.ts';

const config = {
  version: 3,
  host: ['http://users:8000'],
  endpoints: [
    { endpoint: '/users/{id}', backend: [{ url_pattern: '/v1/{id}', deny: ['password'] }] },
    {
      endpoint: '/limited',
      extra_config: { 'qos/ratelimit/router': { max_rate: 1, capacity: 1 } },
      backend: [{ url_pattern: '/v1/limited' }],
    },
  ],
};
const users = { url: '/v1/*', response: { body: { id: 1, password: 'x' } } };
const passing = { name: 'returns a user', request: { path: '/users/1' }, expect: { status: 200, body: { id: 1 } } };

describe('sluice test', () => {
  let folder: Folder;
  let file: string;
  const write = (name: string, content: unknown): string => {
    mkdirSync(dirname(folder.path(name)), { recursive: true });
    return folder.write(name, content);
  };
  const run = (...args: string[]) => sluice('test', '-c', file, ...args);
  const runTests = (tests: readonly object[], ...args: string[]) =>
    run(write('tests.json', { backends: { users }, tests }), ...args);

  beforeEach(() => {
    folder = createFolder();
    file = folder.write('gateway.json', config);
  });
  afterEach(() => folder.remove());

  it('runs requests against the configuration, with mocked servers', async () => {
    const { code, out } = await runTests([passing]);
    equal(code, 0);
    match(out, /^passed {2}.*tests\.json {2}1 test$/m);
    match(out, /^1 passed in \d+ ms$/m);
    match(out, /^1 of 2 endpoints has no test: GET \/limited$/m);
  });

  it('prints expected and actual values of a failed test with their place, and exits with status 1', async () => {
    const { code, out } = await runTests([{ ...passing, expect: { status: 201, body: { id: 2 } } }]);
    equal(code, 1);
    match(out, /✘ returns a user\n {4}status is 200, not 201 {2}.*tests\.json:\d+:\d+\n/);
    match(out, /body differs.*\n {6}- id: 2\n {6}\+ id: 1\n/);
    match(out, /^0 passed, 1 failed in/m);
  });

  it('answers requests to mocked servers with sequences of responses, failures and delays', async () => {
    const flaky = {
      url: '/v1/*',
      responses: [{ failure: 'refused' }, { status: 404 }, { body: { id: 3 }, delay: '5ms' }],
    };
    const request = { path: '/users/1' };
    const tests = [500, 500, 200].map((status, at) => ({ name: `request ${at}`, request, expect: { status } }));
    const { code, out } = await runTests([
      { ...tests[0], backends: { users: flaky } },
      { ...tests[1], backends: { users: { ...flaky, responses: flaky.responses.slice(1) } } },
      { ...tests[2], backends: { users: { ...flaky, responses: flaky.responses.slice(2) } } },
    ]);
    equal(code, 0, out);
  });

  it('keeps the state of the gateway between the tests of a file, and moves its clock', async () => {
    const limited = (status: number, more = {}) => {
      return { name: `status ${status}`, request: { path: '/limited' }, expect: { status }, ...more };
    };
    equal((await runTests([limited(200), limited(503), limited(200, { advance: '1s' })])).code, 0);
    const [one, other] = [
      write('a/1.json', { backends: { users }, tests: [limited(200)] }),
      write('a/2.json', { backends: { users }, tests: [limited(200)] }),
    ];
    equal((await run(one, other)).code, 0);
  });

  it('answers requests to mocked servers with recorded responses, in order', async () => {
    const url = 'http://users:8000/v1/1';
    const headers = [
      { name: 'Content-Type', value: 'application/json' },
      { name: 'Content-Encoding', value: 'gzip' },
      { name: 'Content-Length', value: '1' },
      { name: 'Connection', value: 'close' },
    ];
    const entry = (text: string, more = {}) => {
      const content = { mimeType: 'application/json', size: 1, text, ...more };
      return {
        startedDateTime: '',
        time: 1,
        request: { method: 'GET', url },
        response: { status: 200, headers, content },
      };
    };
    const encoded = Buffer.from('{"id":2}').toString('base64');
    const lost = { request: { method: 'GET', url }, response: { status: 0 } };
    const entries = [entry('{"id":1}'), lost, entry(encoded, { encoding: 'base64' })];
    write('a/traffic.har', { log: { version: '1.2', creator: { name: 'x' }, entries } });
    const retry = { 'backend/retry': { attempts: 2, backoff: { base: '1ms' } } };
    const endpoints = [
      {
        endpoint: '/both',
        extra_config: { proxy: { sequential: true } },
        backend: [{ url_pattern: '/v1/1' }, { url_pattern: '/v1/1', group: 'again', extra_config: retry }],
      },
    ];
    file = folder.write('gateway.json', { ...config, endpoints });
    const expect = { status: 200, body: { id: 1, again: { id: 2 } } };
    const tests = [{ name: 'both', request: { path: '/both' }, expect }];
    const { code, out } = await run(write('a/tests.json', { recordings: ['traffic.har'], tests }));
    equal(code, 0, out);
  });

  it('rejects recordings that are absent or not in the HAR format', async () => {
    write('bad.har', { log: { entries: [{ request: { method: 'GET', url: '/' } }] } });
    for (const name of ['absent.har', 'bad.har', '.']) {
      const { code, err } = await run(write('tests.json', { recordings: [name], tests: [passing] }));
      equal(code, 1);
      match(err, /tests\.json:\d+:\d+: error: cannot read the recording .* \[TEST_RECORDING\]/s);
    }
  });

  it('answers requests that the gateway sends on its own, for secrets and tokens', async () => {
    const vault = { address: 'http://vault:8200', auth: { method: 'token', token: 'x' }, kv_version: 2 };
    const credentials = { client_id: 'a', client_secret: '${vault:kv/orders#secret}', token_url: 'http://idp/token' };
    const backend = [{ url_pattern: '/v1/{id}', extra_config: { 'auth/client-credentials': credentials } }];
    const endpoints = [{ endpoint: '/users/{id}', backend }];
    file = folder.write('gateway.json', { ...config, extra_config: { 'secrets/vault': vault }, endpoints });
    const secret = { data: { data: { secret: 's3' }, metadata: { version: 1 } } };
    const token = { access_token: 'issued', token_type: 'Bearer', expires_in: 60 };
    const backends = {
      users,
      vault: { url: 'http://vault:8200/v1/kv/data/orders', response: { body: secret } },
      other: { url: 'http://vault:8200/**', response: { body: { data: {} } } },
      idp: { url: 'http://idp/token', response: { body: token } },
    };
    const asked = [
      { method: 'POST', headers: { Authorization: `Basic ${btoa('a:s3')}` }, body_matches: '^grant_type=' },
    ];
    const sent = [{ headers: { Authorization: 'Bearer issued' } }];
    const expect = { status: 200, backends: { users: { requests: sent }, idp: { requests: asked } } };
    const { code, out, err } = await run(write('tests.json', { backends, tests: [{ ...passing, expect }] }));
    equal(code, 0, out + err);
  });

  it('fails a test whose request has no mock, and names the request', async () => {
    const path = write('tests.json', { tests: [{ ...passing, expect: {} }] });
    const { code, out } = await run(path);
    equal(code, 1);
    match(out, /no mock matches the request GET http:\/\/users:8000\/v1\/1/);
  });

  it('ends a test that hangs', async () => {
    const hanging = { ...users, response: { failure: 'hang' } };
    const { code, out } = await runTests([{ ...passing, timeout: '20ms', backends: { users: hanging } }]);
    equal(code, 1);
    match(out, /no response within 20 ms/);
  });

  it('runs the tests whose names match --grep', async () => {
    const other = { ...passing, name: 'fails', expect: { status: 500 } };
    equal((await runTests([passing, other], '--grep', '^returns')).code, 0);
    equal((await runTests([passing], '--grep', 'nothing')).code, 1);
    const { code, err } = await runTests([passing], '--grep', '(');
    equal(code, 2);
    match(err, /--grep \(/);
  });

  it('rejects unknown keys with file, line and a correction', async () => {
    const path = write('tests.yaml', 'tests:\n  - name: a\n    request: { path: / }\n    expects: {}\n');
    const { code, err } = await run(path);
    equal(code, 1);
    match(err, /tests\.yaml:4:5/);
    match(err, /unknown key 'expects'/);
    match(err, /expect/);
  });

  it('rejects invalid expectations with their place', async () => {
    const rows: readonly [expect: object, code: RegExp][] = [
      [{ body_matches: '(' }, /TEST_PATTERN/],
      [{ jmespath: { 'a[': 1 } }, /TEST_EXPRESSION/],
      [{ body_schema: { type: 'thing' } }, /TEST_SCHEMA/],
      [{ backends: { user: { calls: 1 } } }, /TEST_BACKEND[\s\S]*users/],
    ];
    for (const [expect, expected] of rows) {
      const { code, err } = await runTests([{ ...passing, expect }]);
      equal(code, 1);
      match(err, expected);
    }
    const { err } = await runTests([{ ...passing, request: { path: '/', method: 'G T' } }]);
    match(err, /TEST_REQUEST/);
  });

  it('survives hostile files', async () => {
    const hostile = [
      '{"tests": [{"name": "a", "request": {"path": "/users/1"}, "expect": {"body": {"__proto__": {"a": 1}}}}]}',
      `{"tests": ${'['.repeat(10_000)}`,
      `tests: &a\n  - *a\n`,
      `a: &a [x, x]\nb: &b [*a, *a]\n${'c: [*b, *b]\n'.repeat(1)}tests: [*b]\n`,
      '{"__proto__": {"tests": []}}',
      '[]',
      '',
      '\0',
      '{"tests": [{"name": "a", "request": {"path": "/users/1", "headers": {"a": "b\\r\\nc: d"}}}]}',
    ];
    for (const [at, text] of hostile.entries()) {
      const extension = text.startsWith('{') || text.startsWith('[') ? 'json' : 'yaml';
      const { code, err } = await run(write(`hostile-${at}.${extension}`, text));
      equal(code, 1, `${text.slice(0, 80)}: ${err}`);
    }
    equal(Object.hasOwn(Object.prototype, 'a'), false);
  });

  it('rejects files that are too large, absent or of another kind', async () => {
    const large = write('large.json', `{"tests": [], "@": "${'x'.repeat(8 * 1024 * 1024)}"}`);
    match((await run(large)).err, /exceeds 8 MiB/);
    match((await run(folder.path('absent.json'))).err, /ERROR cannot read .*absent\.json/);
  });

  it('finds files in folders, without hidden ones and without following links', async () => {
    write('suite/one.json', { backends: { users }, tests: [passing] });
    write(
      'suite/inner/two.yaml',
      `backends:\n  users: ${JSON.stringify(users)}\ntests:\n  - ${JSON.stringify(passing)}\n`,
    );
    write('suite/.hidden.json', '{');
    write('suite/notes.md', '#');
    symlinkSync(folder.path('suite'), folder.path('suite/again'));
    const { code, out } = await run(folder.path('suite'));
    equal(code, 0, out);
    match(out, /^2 passed/m);
  });

  it('writes the current responses as expectations with --update, and keeps comments', async () => {
    const lines = [
      '# The users',
      'backends:',
      `  users: ${JSON.stringify(users)}`,
      'tests:',
      '  - name: a   # first',
      '    request: { path: /users/1 }',
      '    expect:',
      '      status: 404 # wrong',
      '      body: { id: 2 }',
      '  - name: b',
      '    request: { path: /users/2 }',
    ];
    const path = write('tests.yaml', `${lines.join('\n')}\n`);
    equal((await run(path)).code, 1);
    const { code, out } = await run(path, '--update');
    equal(code, 0);
    match(out, /^3 expectations updated$/m);
    const [head] = folder.read('tests.yaml').split('  - name: b');
    equal(head, `${lines.slice(0, 9).join('\n').replace('404', '200').replace('id: 2', 'id: 1')}\n`);
    equal((await run(path)).code, 0);
    match(folder.read('tests.yaml'), /expect: \{"status": 200, "body": \{"id": 1\}\}/);
  });

  it('does not write responses of requests without a mock', async () => {
    const path = write('tests.json', { tests: [{ name: 'a', request: { path: '/users/1' } }] });
    const before = folder.read('tests.json');
    equal((await run(path, '--update')).code, 1);
    equal(folder.read('tests.json'), before);
  });

  it('prints JSON', async () => {
    const { out } = await runTests(
      [passing, { ...passing, expect: { status: 1 + 199, body: { id: 2 } } }],
      '--format',
      'json',
    );
    const { valid, passed, failed, tests, coverage } = JSON.parse(out);
    deepEqual([valid, passed, failed], [false, 1, 1]);
    deepEqual(tests[1].failures[0].differences, ['- id: 2', '+ id: 1']);
    deepEqual(coverage.endpoints.untested, ['GET /limited']);
  });

  it('prints JUnit XML with escaped names', async () => {
    const named = { ...passing, name: 'is <"&\u0001> valid', expect: { status: 201 } };
    const { out } = await runTests([named, passing], '--format', 'junit');
    match(
      out,
      /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<testsuites name="sluice" tests="2" failures="1" errors="0"/,
    );
    ok(out.includes('name="is &lt;&quot;&amp;\ufffd&gt; valid"'));
    match(out, /<failure message="status is 200, not 201">/);
  });

  it('prints annotations for GitHub', async () => {
    const { out } = await runTests([{ ...passing, expect: { status: 201 } }], '--format', 'github');
    match(
      out,
      /^::error file=.*tests\.json,line=\d+,col=\d+,title=TEST_FAILED::returns a user: status is 200, not 201$/m,
    );
  });

  it('masks secrets in its output', async () => {
    const leaking = { url: '/v1/*', response: { body: { token: 'hunter2', id: 1 } } };
    const { out } = await runTests([{ ...passing, backends: { users: leaking } }]);
    match(out, /\+ token: \*\*\*/);
    ok(!out.includes('hunter2'));
  });

  it('escapes control characters in its output', async () => {
    const { out } = await runTests([{ ...passing, name: 'a\u001b[31m', expect: { status: 201 } }]);
    ok(!out.includes('\u001b[31m'));
  });

  it('reports an invalid configuration like check', async () => {
    const broken = folder.write('broken.json', { ...config, endpoint: [] });
    const { code, err } = await sluice('test', '-c', broken, write('tests.json', { tests: [passing] }));
    equal(code, 1);
    match(err, /broken\.json:\d+:\d+/);
  });

  it('reports servers that the gateway could not reach on its own', async () => {
    const pools = [{ name: 'cache', address: '192.0.2.1:6379' }];
    file = folder.write('gateway.json', { ...config, extra_config: { redis: { connection_pools: pools } } });
    const { out } = await runTests([passing]);
    match(out, /^not reached: redis connection of cache, to 192\.0\.2\.1:6379$/m);
  });

  it('sends the requests to a running gateway with --against', async () => {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      seen.push(`${request.method} ${request.url}`);
      response.setHeader('Content-Type', 'application/json').end('{"id":1}');
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const counted = { ...passing, expect: { ...passing.expect, backends: { users: { calls: 7 } } } };
    const path = write('tests.json', { backends: { users }, tests: [counted] });
    const { code, out } = await sluice('test', path, '--against', address);
    server.closeAllConnections();
    server.close();
    equal(code, 0, out);
    deepEqual(seen, ['GET /users/1']);
    equal((await sluice('test', path, '--against', 'users')).code, 2);
    equal((await sluice('test', path, '--against', address, '-c', file)).code, 2);
  });

  it('fails if the gateway of --against does not respond', async () => {
    const path = write('tests.json', { tests: [passing] });
    const { code, out } = await sluice('test', path, '--against', 'http://127.0.0.1:9');
    equal(code, 1);
    match(out, /ECONNREFUSED/);
  });

  it('lists everything without a test with --coverage', async () => {
    const { out } = await runTests([passing], '--coverage');
    match(out, /^1 of 2 endpoints has no test:\n {2}GET \/limited$/m);
    match(out, /^1 of 2 components has no test:\n {2}qos\/ratelimit\/router$/m);
  });

  it('runs again after a change with --watch, until it is interrupted', async () => {
    const path = write('tests.json', { backends: { users }, tests: [passing] });
    const running = startCommand({ GATEWAY_ADMIN_LISTEN: 'off' }, 'test', '-c', file, path, '--watch');
    await running.printed(/^1 passed/m);
    write('tests.json', { backends: { users }, tests: [{ ...passing, expect: { status: 201 } }] });
    await running.printed(/^0 passed, 1 failed/m);
    running.kill('SIGINT');
    equal(await running.ended, 0);
  });

  it('has a schema that accepts both forms of files, and rejects others', async () => {
    const { out } = await sluice('schema', '--tests');
    const validate = new Ajv({ strict: false }).compile(JSON.parse(out));
    const spec = { in: { url: '/' }, out: { status_code: 200 } };
    equal(validate({ backends: { users }, tests: [passing] }), true, JSON.stringify(validate.errors));
    equal(validate(spec), true, JSON.stringify(validate.errors));
    equal(validate({ tests: [{ ...passing, expects: {} }] }), false);
    equal(validate({ ...spec, outs: {} }), false);
  });

  it('fails if a folder contains no tests', async () => {
    mkdirSync(folder.path('empty'));
    const { code, err } = await run(folder.path('empty'));
    equal(code, 1);
    match(err, /^ERROR no tests found in /);
  });

  it('continues if the client of another system fails outside of every request', async () => {
    const path = write('tests.json', {
      tests: [{ name: 'publishes', request: { method: 'POST', path: '/google/orders' }, expect: { status: 500 } }],
    });
    // Runs in a separate process, because the client of Google Pub/Sub reads credentials when it is created, and its
    // failure is not handled.
    const running = startProcess({}, 'test', '-c', 'samples/clouds/gateway.json', path);
    equal(await running.ended, 1);
    match(running.out, /no mock matches the request backend\/pubsub\/publisher/);
    match(running.out, /0 passed, 1 failed/);
  });
});
