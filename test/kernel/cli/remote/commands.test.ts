import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { makeCertificates } from '../../../support/certificates.ts';
import { createFolder, type Folder, sluiceIn } from '../command.ts';
import { type AdminServer, type Reply, startAdminServer } from './admin-server.ts';
import { applied, invalid, revisions, stale, status } from './bodies.ts';

describe('with a running gateway, sluice', function () {
  this.timeout(30_000);
  let server: AdminServer;
  let folder: Folder;

  beforeEach(async () => {
    server = await startAdminServer();
    folder = createFolder();
  });
  afterEach(async () => {
    await server.close();
    folder.remove();
  });

  const env = (more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
    GATEWAY_ADMIN_LISTEN: server.address,
    GATEWAY_ADMIN_TOKEN: 'sesame',
    GATEWAY_STATE_DIR: folder.path(''),
    ...more,
  });
  const call = (...args: string[]) => sluiceIn(env(), ...args);
  const responding = (route: string, reply: Reply, ...args: string[]) => {
    server.on(route, reply);
    return call(...args);
  };

  describe('takes its token', () => {
    const tokenSent = async (more: NodeJS.ProcessEnv, ...args: string[]) => {
      server.on('GET /v1/status', [200, status]);
      equal((await sluiceIn(env(more), 'status', ...args)).code, 0);
      return server.calls[0]!.headers.authorization;
    };

    it('from the environment', async () => {
      equal(await tokenSent({}), 'Bearer sesame');
    });

    it('from the file of --admin-token-file, which takes precedence', async () => {
      equal(await tokenSent({}, '--admin-token-file', folder.write('token', 'from-file\n')), 'Bearer from-file');
    });

    it('from the file that the gateway has written', async () => {
      folder.write(`admin-${server.address.replace(':', '-')}.token`, 'made');
      equal(await tokenSent({ GATEWAY_ADMIN_TOKEN: '' }), 'Bearer made');
    });

    it('from the same file if the gateway is called localhost', async () => {
      folder.write(`admin-${server.address.replace(':', '-')}.token`, 'made');
      const admin = server.address.replace('127.0.0.1', 'localhost');
      equal(await tokenSent({ GATEWAY_ADMIN_TOKEN: '' }, '--admin', admin), 'Bearer made');
    });
  });

  it('sends no Authorization header without a token, and explains how to provide one', async () => {
    server.on('GET /v1/status', [401, { title: 'Unauthorized', status: 401 }]);
    const { code, err } = await sluiceIn(env({ GATEWAY_ADMIN_TOKEN: '' }), 'status');
    equal(server.calls[0]!.headers.authorization, undefined);
    equal(code, 1);
    match(err, /^ERROR Unauthorized\n.*GATEWAY_ADMIN_TOKEN/);
  });

  it('reaches a gateway through a socket file', async () => {
    const socket = await startAdminServer({ path: folder.path('admin.sock') });
    socket.on('GET /v1/status', [200, status]);
    const { code } = await call('status', '--admin', socket.address);
    await socket.close();
    equal(code, 0);
  });

  it('trusts only certificates of the given CA', async () => {
    const certificates = makeCertificates();
    const authority = certificates.authority('authority');
    const { certificatePem: cert, privateKeyPem: key } = certificates.issue('gateway', authority);
    const secure = await startAdminServer(undefined, { cert, key });
    secure.on('GET /v1/status', [200, status]);
    const at = ['status', '--admin', `https://${secure.address}`];
    const { code } = await call(...at, '--ca', authority.certificate);
    const { code: untrusted } = await call(...at);
    await secure.close();
    certificates.remove();
    deepEqual([code, untrusted], [0, 3]);
    equal(secure.calls.length, 1);
  });

  it('does not send its token to a redirected address', async () => {
    const other = await startAdminServer();
    server.on('GET /v1/status', (_, response) => {
      response.writeHead(307, { location: `http://${other.address}/v1/status` }).end('{}');
    });
    equal((await call('status')).code, 1);
    await other.close();
    deepEqual(other.calls, []);
  });

  it('exits with status 3 if the gateway does not respond, and lists the addresses that it has tried', async () => {
    const { address } = server;
    await server.close();
    const { code, err, out } = await sluiceIn(env(), 'status', '--json');
    server = await startAdminServer();
    equal(code, 3);
    equal(out, '');
    match(err, new RegExp(`the admin port at ${address} did not respond: .*ECONNREFUSED`));
  });

  it('exits with status 2 for invalid arguments, without a request', async () => {
    for (const args of [
      ['status', '--frob'],
      ['status', '--admin', 'nowhere'],
      ['status', '--admin-token-file', folder.path('missing')],
      ['reload', '--guard', 'soon'],
      ['reload', '--guard-p99', '2'],
      ['reload', '--replay', 'some'],
      ['reload', '--replay', '1', '--replay-mode', 'careful'],
      ['reload', '--replay-mode', 'strict'],
      ['reload', '--accept', 'accept.txt'],
      ['reload', '--replay', '1', '--accept', folder.path('absent.txt')],
      ['reload', '--contracts', 'loose'],
      ['rollback'],
      ['rollback', 'one'],
      ['history', '--limit', '0'],
    ]) {
      equal((await call(...args)).code, 2, args.join(' '));
    }
    deepEqual(server.calls, []);
  });

  it('exits with status 1 if another kind of server answers', async () => {
    const html: Reply = (_, response) => void response.writeHead(200).end('<html>');
    const { code, err } = await responding('GET /v1/status', html, 'status');
    equal(code, 1);
    match(err, /^ERROR/);
  });

  it('prints the response unchanged with --json, also a rejection', async () => {
    const text = '{ "a":1.0,\n"b":[] }';
    server.on('GET /v1/status', (_, response) => void response.writeHead(200).end(text));
    deepEqual(await call('status', '--json'), { code: 0, out: `${text}\n`, err: '' });
    const refusal = await responding('POST /v1/reload', [422, invalid], 'reload', '--json');
    deepEqual(refusal, { code: 1, out: `${JSON.stringify(invalid)}\n`, err: '' });
  });

  describe('status', () => {
    it('shows the active revision', async () => {
      const { code, out } = await responding('GET /v1/status', [200, status], 'status');
      equal(code, 0);
      match(out, /^state {8}serving$/m);
      match(out, /^revision {5}7-0123456789ab$/m);
      match(out, /^source {7}gateway\.json$/m);
      match(out, /^workers {6}4$/m);
      match(out, /^last reload {2}applied \(watch\) 2026-11-21T20:05:00\.000Z, 54 ms$/m);
      match(out, /^watching {5}14 files \(events\)$/m);
      match(out, /^secrets {6}none$/m);
    });

    it('shows the secrets whose store is not available', async () => {
      const secrets = { inUse: 2, failing: [{ secret: 'vault:kv/shop', reason: 'status 503: Vault is sealed' }] };
      const { out } = await responding('GET /v1/status', [200, { ...status, secrets }], 'status');
      match(out, /^secrets {6}2 from stores; vault:kv\/shop is not available: status 503: Vault is sealed$/m);
    });

    it('shows why the last reload failed, including its errors, and still exits 0', async () => {
      const lastReload = { ...status.lastReload, result: 'failed', problem: invalid };
      const body = { ...status, drift: true, lastReload };
      const { code, out, err } = await responding('GET /v1/status', [200, body], 'status');
      equal(code, 0);
      match(out, /^revision .*, the file differs from the active configuration$/m);
      match(out, /^last reload {2}failed .*The configuration is not valid/m);
      match(err, /gateway\.json:41:17: error: must be an array of strings/);
    });
  });

  describe('reload', () => {
    it('shows the changes', async () => {
      const { code, out } = await responding('POST /v1/reload', [200, applied], 'reload');
      equal(code, 0);
      deepEqual(out.split('\n'), [
        'now serving revision 8 (fedcba987654), replacing 7; took 54 ms',
        '+ GET /new',
        '~ GET /users/{id}',
        '- POST /old',
        '',
      ]);
    });

    it('passes its flags to the gateway', async () => {
      server.on('POST /v1/reload', [200, { ...applied, result: 'dry_run' }]);
      const flags = ['--force', '--dry-run', '--message', 'a & b', '--if-match', '7-0123456789ab'];
      match((await call('reload', ...flags)).out, /^dry run: the configuration \([0-9a-f]+\) could be applied/);
      const [{ line, headers }] = server.calls as [(typeof server.calls)[0]];
      equal(line, 'POST /v1/reload?force=true&dry_run=true&message=a+%26+b');
      equal(headers['if-match'], '"7-0123456789ab"');
    });

    it('prints the outcome of a replay, including differences and what was not replayed', async () => {
      const replay = {
        strict: false,
        requests: 20,
        incomplete: 1,
        unfaithful: 2,
        changes: [
          {
            endpoint: 'GET /users/{id}',
            cause: 'visible',
            at: 'email',
            requests: 12,
            settings: [{ op: 'remove', pointer: '/a' }],
          },
          { endpoint: 'GET /users/{id}', cause: 'status', at: '', requests: 1, settings: [] },
        ],
        accepted: 2,
        hidden: 3,
        durationMs: 812,
        failure: null,
      };
      server.on('POST /v1/reload', [200, { ...applied, replay }]);
      const { code, out } = await call('reload', '--replay', '20', '--replay-mode', 'report');
      equal(code, 0);
      equal(server.calls[0]!.line, 'POST /v1/reload?replay=20&replay_mode=report');
      deepEqual(out.split('\n').slice(4), [
        'replayed 20 requests in 812 ms: 5 differences',
        '  GET /users/{id}: field became visible: email, in 12 requests',
        '    removed /a',
        '  GET /users/{id}: status changed, in 1 request',
        '1 request not replayed: the recording is incomplete',
        '2 requests got a status other than the recorded one from the active configuration',
        '2 differences accepted',
        '3 further differences not listed',
        '',
      ]);
      server.on('POST /v1/reload', [200, { ...applied, replay: { ...replay, failure: 'the process has ended' } }]);
      match((await call('reload', '--replay', 'strict')).out, /^the replay failed: the process has ended$/m);
    });

    it('demands that the change breaks no contract', async () => {
      server.on('POST /v1/reload', [200, applied]);
      equal((await call('reload', '--contracts', 'strict')).code, 0);
      equal(server.calls[0]!.line, 'POST /v1/reload?contracts=strict');
    });

    it('prints the errors of a rejected configuration like check', async () => {
      const { code, out, err } = await responding('POST /v1/reload', [422, invalid], 'reload');
      equal(code, 1);
      equal(out, '');
      deepEqual(err.split('\n'), [
        'ERROR The configuration is not valid; revision 7 stays active',
        'gateway.json:41:17: error: must be an array of strings (/endpoints/0/backend/0/host) [SCHEMA_TYPE]',
        '    hint: wrap it in [ ]',
        '',
        '1 error',
        '',
      ]);
    });

    it('prints warnings of a configuration that serves', async () => {
      const warnings = [{ ...invalid.errors[0], severity: 'warning' }];
      const { code, err } = await responding('POST /v1/reload', [200, { ...applied, warnings }], 'reload');
      equal(code, 0);
      match(err, /warning: must be an array/);
    });

    it('exits 4 if another revision is active than expected', async () => {
      const { code, err } = await responding('POST /v1/reload', [412, stale], 'reload', '--if-match', '7-0123456789ab');
      equal(code, 4);
      equal(err, 'ERROR revision 8 serves, not 7\n');
    });

    it('prints no control characters of a response to the terminal', async () => {
      const { err } = await responding('POST /v1/reload', [422, { detail: 'a\x1b[2Jb' }], 'reload');
      doesNotMatch(err, /\x1b/);
    });
  });

  describe('rollback', () => {
    it('requires a revision, and prints the revision that is active afterwards', async () => {
      server.on('POST /v1/revisions/2/rollback', [200, applied]);
      const { code, out } = await call('rollback', '2', '--message', 'too slow');
      equal(code, 0);
      match(out, /^now serving revision 8 /);
      equal(server.calls[0]!.line, 'POST /v1/revisions/2/rollback?message=too+slow');
    });

    it('exits 1 if the revision no longer exists', async () => {
      const gone = { title: 'Gone', status: 410, detail: 'revision 2 is no longer kept' };
      const { code, err } = await responding('POST /v1/revisions/2/rollback', [410, gone], 'rollback', '2');
      equal(code, 1);
      equal(err, 'ERROR revision 2 is no longer kept\n');
    });
  });

  describe('history', () => {
    it('lists the applied revisions', async () => {
      server.on('GET /v1/revisions', [200, revisions]);
      const { code, out } = await call('history', '--limit', '3');
      equal(code, 0);
      equal(server.calls[0]!.line, 'GET /v1/revisions?limit=3');
      deepEqual(out.split('\n'), [
        'REVISION  AT                        FROM   BY  RESULT           MESSAGE',
        '3         2026-11-21T20:10:00.000Z  api    ci  serves',
        '2         2026-11-21T20:05:00.000Z  file       rolled-back      longer timeouts',
        '1         2026-11-21T20:00:00.000Z  start      applied, pinned',
        '',
      ]);
    });

    it('shows one revision', async () => {
      const { out } = await responding('GET /v1/revisions/2', [200, revisions.revisions[1]], 'history', '2');
      match(out, /^reason {4}GET \/a: errors rose/m);
      match(out, /^message {3}longer timeouts$/m);
    });
  });

  describe('record', () => {
    const entry = { request: { method: 'GET', url: 'http://a/' }, response: { status: 200 } };
    const har = { log: { entries: [entry, { ...entry, _sluice: { backend: 0 } }] } };

    it('saves the recorded requests in a file with mode 0600', async () => {
      server.on('GET /v1/recordings', [200, har]);
      const file = folder.path('traffic.har');
      const { code, out } = await call('record', '-n', '500', '-o', file);
      deepEqual([code, out], [0, `${file}: 1 request, 1 call of backends\n`]);
      equal(server.calls[0]!.line, 'GET /v1/recordings?limit=500');
      deepEqual(JSON.parse(readFileSync(file, 'utf8')), har);
      equal(statSync(file).mode & 0o777, 0o600);
    });

    it('writes to standard output without -o', async () => {
      const { code, out } = await responding('GET /v1/recordings', [200, har], 'record');
      deepEqual([code, JSON.parse(out)], [0, har]);
    });

    it('exits 1 if no component records traffic, and for a response that is not a recording', async () => {
      const missing = { title: 'Not found', status: 404, detail: 'no component records traffic' };
      const { code, err } = await responding('GET /v1/recordings', [404, missing], 'record');
      deepEqual([code, err], [1, 'ERROR no component records traffic\n']);
      equal((await responding('GET /v1/recordings', [200, { log: null }], 'record')).code, 1);
      equal((await responding('GET /v1/recordings', [200, []], 'record')).code, 1);
    });

    it('reports a file that cannot be written', async () => {
      server.on('GET /v1/recordings', [200, har]);
      const { code, err } = await call('record', '-o', folder.path('missing/traffic.har'));
      equal(code, 1);
      match(err, /traffic\.har/);
    });

    it('rejects -n 0 as a usage error', async () => {
      equal((await call('record', '-n', '0')).code, 2);
    });
  });

  describe('diff', () => {
    it('reports a missing file, without a request', async () => {
      const { code, out, err } = await call('diff', folder.path('gone.json'));
      deepEqual([code, out], [2, '']);
      match(err, /gone\.json: error: cannot read .*gone\.json: no such file \[CONFIG_READ\]/);
      doesNotMatch(err, /ENOENT/);
    });

    const change = {
      op: 'replace',
      pointer: '/timeout',
      from: '2s',
      to: '3s',
      effect: 'swap',
      file: 'configuration.yaml',
      line: 2,
      column: 1,
    };

    it('compares a file with the active configuration', async () => {
      server.on('POST /v1/config/diff', [200, { equal: false, changes: [change] }]);
      const file = folder.write('g.yaml', 'version: 3\n');
      const { code, out } = await call('diff', file);
      equal(code, 1);
      equal(out, `~ service\n    timeout: "2s" → "3s"  ${file}:2:1\n`);
      const [{ headers, body }] = server.calls as [(typeof server.calls)[0]];
      deepEqual([headers['content-type'], body], ['application/yaml', 'version: 3\n']);
    });

    it('compares two revisions, and exits 0 if they are equal', async () => {
      const equals = { equal: true, changes: [] };
      const { code, out } = await responding('GET /v1/revisions/3/diff/4', [200, equals], 'diff', '3', '4');
      deepEqual([code, out], [0, 'No difference.\n']);
    });

    it('exits 2 if the file is rejected', async () => {
      const file = folder.write('bad.json', '{}');
      const { code, err } = await responding('POST /v1/config/diff', [422, invalid], 'diff', file);
      equal(code, 2);
      match(err, /bad\.json:41:17: error/);
    });

    it('prints the local file name in JSON, too, and keeps the file of removed fields', async () => {
      const removed = { op: 'remove', pointer: '/name', from: 'a', effect: 'swap', file: 'served.json' };
      server.on('POST /v1/config/diff', [200, { equal: false, changes: [change, removed] }]);
      const file = folder.write('g.yaml', 'version: 3\n');
      const { changes } = JSON.parse((await call('diff', file, '--format', 'json')).out);
      deepEqual(
        changes.map((reported: { file: string }) => reported.file),
        [file, 'served.json'],
      );
    });

    it('refers to endpoints by method and path', async () => {
      const route = { method: 'GET', endpoint: '/users/{id}' };
      const inside = { ...change, pointer: '/endpoints/7/timeout', route };
      server.on('POST /v1/config/diff', [200, { equal: false, changes: [inside] }]);
      const { out } = await call('diff', folder.write('g.yaml', 'version: 3\n'));
      match(out, /^~ GET \/users\/\{id\}\n {4}timeout: "2s" → "3s" /);
    });
  });
});
