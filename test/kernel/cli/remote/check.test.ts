import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { freePort } from '../../../support/conditions.ts';
import { createFolder, type Ended, type Folder, sluice, sluiceIn } from '../command.ts';
import { type Process, startProcess } from '../running.ts';
import { type AdminServer, startAdminServer } from './admin-server.ts';

const backend = [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }];

describe('check --admin', function () {
  this.timeout(60_000);
  let folder: Folder;
  let gateway: Process;
  let admin: string;

  before(async () => {
    folder = createFolder();
    const file = folder.write('gateway.json', { version: 3, listen_ip: '127.0.0.1', endpoints: [] });
    admin = `127.0.0.1:${await freePort()}`;
    const env = { GATEWAY_ADMIN_LISTEN: admin, GATEWAY_ADMIN_TOKEN: '' };
    const state = ['--state-dir', folder.path('state')];
    gateway = startProcess(env, 'run', '--no-watch', '-p', String(await freePort()), '-c', file, ...state);
    await gateway.printed(/the token of the admin API is in/);
  });
  after(async () => {
    await gateway.stop();
    folder.remove();
  });

  const here = (...args: string[]) => sluice('check', ...args);
  const there = (...args: string[]) => here(...args, '--admin', admin, '--state-dir', folder.path('state'));

  const files: Readonly<Record<string, readonly [name: string, content: unknown]>> = {
    'a good file': ['good.json', { version: 3, endpoints: [{ endpoint: '/a', backend }] }],
    'a good file in YAML': ['good.yaml', 'version: 3\nendpoints: []\n'],
    'a file with errors': [
      'three.json',
      { version: 3, timeout: '2', prot: 8080, endpoints: [{ endpoint: '/a', method: 'FETCH', backend }] },
    ],
    'a file with errors in YAML': ['two.yaml', 'version: 3\ntimeout: 2\nendpoints:\n  - endpoint: a\n'],
    'a file with a warning': ['odd.json', '// a comment\n{"version": 3, "endpoints": []}'],
    'a file with errors and warnings': ['both.json', '// a comment\n{"version": 3, "timeout": "2"}'],
    'a file with a secret on the line of an error': [
      'secret.json',
      JSON.stringify({
        version: 3,
        endpoints: [
          {
            endpoint: '/a',
            backend: [
              {
                ...backend[0],
                extra_config: { 'backend/http/client': { proxy_address: 'http://hidden.test:3128', nope: 1 } },
              },
            ],
          },
        ],
      }),
    ],
    'routes that collide': [
      'routes.json',
      {
        version: 3,
        endpoints: [
          { endpoint: '/user/{a}', backend },
          { endpoint: '/user/{b}/some', backend },
        ],
      },
    ],
    'a file that cannot be parsed': ['broken.json', '{"version": 3,\n "endpoints": [}'],
  };
  /** Output of both commands for a file. */
  const both = (file: string, format: string) =>
    Promise.all([there, here].map((check) => check('-t', '-c', file, '--format', format)));

  for (const [what, [name, content]] of Object.entries(files)) {
    it(`reports the same about ${what} as a local check`, async () => {
      const file = folder.write(name, content);
      for (const format of ['text', 'json']) deepEqual(...((await both(file, format)) as [Ended, Ended]), format);
    });
  }

  it('supports every output format', async () => {
    const file = folder.write('three.json', files['a file with errors']![1]);
    for (const format of ['sarif', 'github']) deepEqual(...((await both(file, format)) as [Ended, Ended]), format);
  });

  it('reports both errors and warnings', async () => {
    const { out } = await there('-c', folder.write(...files['a file with errors and warnings']!), '--format', 'json');
    const { errors, warnings } = JSON.parse(out);
    ok(errors.length > 0 && warnings.length > 0, out);
  });

  it('builds components only with -t', async () => {
    const cel = { 'validation/cel': [{ check_expr: '1 +' }] };
    const file = folder.write('cel.json', {
      version: 3,
      endpoints: [{ endpoint: '/a', backend, extra_config: cel }],
    });
    equal((await there('-c', file)).code, (await here('-c', file)).code);
    const { code, err } = await there('-t', '-c', file);
    equal(code, 1);
    match(err, /cel\.json:\d+:\d+: error: /);
  });

  it('exits 1 with the reason if the token is wrong', async () => {
    const file = folder.write('good.json', { version: 3, endpoints: [] });
    const { code, err } = await here('-c', file, '--admin', admin, '--admin-token-file', folder.write('token', 'x'));
    equal(code, 1);
    match(err, /GATEWAY_ADMIN_TOKEN/);
  });

  it('exits 1 for a missing file', async () => {
    deepEqual(await there('-c', folder.path('missing.json')), await here('-c', folder.path('missing.json')));
  });

  it('does not call the gateway without --admin', async () => {
    const file = folder.write('good.json', { version: 3, endpoints: [] });
    equal((await sluiceIn({ GATEWAY_ADMIN_LISTEN: '127.0.0.1:1' }, 'check', '-c', file)).code, 0);
  });

  it('exits 3 if the gateway does not respond', async () => {
    const file = folder.write('good.json', { version: 3, endpoints: [] });
    const { code, out, err } = await here('-c', file, '--admin', `127.0.0.1:${await freePort()}`, '--format', 'json');
    deepEqual([code, out], [3, '']);
    match(err, /the admin port at .* did not respond/);
  });

  it('exits 2 for flags that cannot be combined', async () => {
    for (const args of [
      ['--fix', '--admin', admin],
      ['-d', '--admin', admin],
      ['-s', 'schema.json', '--admin', admin],
      ['--ca', 'authority.pem'],
    ]) {
      equal((await here('-c', 'gateway.json', ...args)).code, 2, args.join(' '));
    }
  });
});

describe('check --admin, against another kind of server', function () {
  this.timeout(30_000);
  let server: AdminServer;
  let folder: Folder;
  let file: string;
  beforeEach(async () => {
    server = await startAdminServer();
    folder = createFolder();
    file = folder.write('gateway.json', { version: 3, endpoints: [] });
  });
  afterEach(async () => {
    await server.close();
    folder.remove();
  });

  const check = (...args: string[]) =>
    sluiceIn({ GATEWAY_ADMIN_TOKEN: 'sesame' }, 'check', '-c', file, '--admin', server.address, ...args);

  it('does not report a valid configuration', async () => {
    for (const body of ['<html>', '{}', 'null']) {
      server.on('POST /v1/check', (_, response) => void response.writeHead(200).end(body));
      const { code, out, err } = await check();
      equal(code, 1, body);
      match(err, /^ERROR /);
      equal(out.includes('Syntax OK!'), false);
    }
  });

  it('sends the file unchanged, and the level of the check', async () => {
    server.on('POST /v1/check', [200, { valid: true, warnings: [] }]);
    equal((await check()).code, 0);
    equal((await check('-t')).code, 0);
    deepEqual(
      server.calls.map(({ line }) => line),
      ['POST /v1/check?level=schema', 'POST /v1/check?level=full'],
    );
    equal(server.calls[0]!.body, folder.read('gateway.json'));
  });

  it('reports the number of omitted errors', async () => {
    const errors = [{ pointer: '/version', severity: 'error', code: 'SCHEMA_TYPE', namespace: 'core', message: 'bad' }];
    server.on('POST /v1/check', [422, { title: 'Bad', status: 422, errors, errorsTruncated: 7 }]);
    const { code, err } = await check();
    equal(code, 1);
    match(err, /^ERROR parsing the configuration file:\t8 errors\n/);
    match(err, /: error: bad \(\/version\) \[SCHEMA_TYPE\]\n[\s\S]*and 7 more\n$/);
  });
});
