import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashSync } from 'bcryptjs';
import type { Operations } from '#kernel';
import { until } from '../../../support/conditions.ts';
import {
  json,
  openGateway,
  rememberingSinks,
  startBackend,
  startGateway,
  type TestBackend,
} from '../../../support/gateway.ts';

describe('a gateway with basic authentication', () => {
  let backend: TestBackend;
  let gateway: Operations | undefined;
  let folder: string;

  before(async () => {
    backend = await startBackend(json({ ok: true }));
    folder = mkdtempSync(join(tmpdir(), 'sluice-basic-'));
  });
  after(async () => {
    await backend.close();
    rmSync(folder, { recursive: true });
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  const hash = hashSync('p', 4);
  const to = (url_pattern: string) => [{ host: [backend.url], url_pattern }];
  const guarded = (more: object = {}) => ({
    endpoint: '/a',
    backend: to('/a'),
    extra_config: { 'auth/basic': {} },
    ...more,
  });
  const config = (basic: object, endpoints: object[] = [guarded()], root: object = {}) => ({
    version: 3,
    extra_config: { 'auth/basic': basic, ...root },
    endpoints,
  });
  const credentials = (name: string, password = 'p') => ({
    authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
  });
  const statusOf = async (url: string, headers: Record<string, string> = {}) =>
    (await gateway!.inject({ url, headers })).statusCode;

  it('requires no credentials at endpoints without auth/basic, even if the root has users', async () => {
    gateway = await startGateway(config({ users: { ada: hash } }, [guarded(), { endpoint: '/b', backend: to('/b') }]));
    deepEqual([await statusOf('/a'), await statusOf('/b')], [401, 200]);
  });

  it('calls no backend for rejected requests, and forwards the Authorization header only if input_headers lists it', async () => {
    const open = guarded({ endpoint: '/c', backend: to('/c'), input_headers: ['Authorization'] });
    gateway = await startGateway(config({ users: { ada: hash } }, [guarded(), open]));
    const before = backend.requests.length;
    await statusOf('/a', credentials('ada', 'x'));
    equal(backend.requests.length, before);
    await statusOf('/a', credentials('ada'));
    equal(backend.requests.at(-1)!.headers.authorization, undefined);
    await statusOf('/c', credentials('ada'));
    equal(backend.requests.at(-1)!.headers.authorization, credentials('ada').authorization);
  });

  it('immediately rejects a user that was removed from the file', async () => {
    const path = join(folder, 'htpasswd');
    writeFileSync(path, `ada:${hash}\nbob:${hash}\n`);
    gateway = await startGateway(config({ htpasswd_path: path }));
    equal(await statusOf('/a', credentials('ada')), 200);
    writeFileSync(path, `bob:${hash}\n`);
    await gateway.reload(config({ htpasswd_path: path }));
    deepEqual([await statusOf('/a', credentials('ada')), await statusOf('/a', credentials('bob'))], [401, 200]);
  });

  it('applies changes of the file without a reload', async () => {
    const users = join(folder, 'watched');
    const file = join(folder, 'gateway.json');
    writeFileSync(users, `ada:${hash}\n`);
    writeFileSync(file, JSON.stringify({ timeout: '20s', ...config({ htpasswd_path: users }) }));
    const sinks = rememberingSinks();
    gateway = await openGateway(file, { port: 0, sinks });
    await gateway.watch();
    equal(await statusOf('/a', credentials('ada')), 200);
    writeFileSync(users, `bob:${hash}\n`);
    await until(async () => (await statusOf('/a', credentials('ada'))) === 401);
    equal(await statusOf('/a', credentials('bob')), 200);
    // Writes an invalid file, which is ignored until the next valid change.
    writeFileSync(users, 'bob:$apr1$x$y\n');
    await until(() => sinks.lines.some((line) => line.includes('BASIC_HASH')));
    equal(await statusOf('/a', credentials('bob')), 200);
    writeFileSync(users, `ada:${hash}\n`);
    await until(async () => (await statusOf('/a', credentials('ada'))) === 200);
    equal(await statusOf('/a', credentials('bob')), 401);
  });

  it('keeps the previous users if the file becomes invalid', async () => {
    const path = join(folder, 'broken');
    writeFileSync(path, `ada:${hash}\n`);
    gateway = await startGateway(config({ htpasswd_path: path }));
    for (const text of ['ada:$apr1$x$y\n', '']) {
      writeFileSync(path, text);
      await rejects(gateway.reload(config({ htpasswd_path: path })), /BASIC_/);
      equal(await statusOf('/a', credentials('ada')), 200);
    }
  });

  it('logs the user in the access log if configured, and never a password', async () => {
    const sinks = rememberingSinks();
    const logging = {
      level: 'DEBUG',
      stdout: true,
      access_log_format: 'custom',
      access_log_custom_format: '%{path} by %{basic_user}\n',
    };
    gateway = await startGateway(
      config({ users: { ada: hashSync('opensesame', 4) } }, [guarded()], { 'telemetry/logging': logging }),
      { sinks },
    );
    equal(await statusOf('/a', credentials('ada', 'opensesame')), 200);
    equal(await statusOf('/a', credentials('ada', 'opensesame-not')), 401);
    await until(() => sinks.lines.some((line) => line.startsWith('/a by -')));
    const text = sinks.lines.join('');
    ok(text.includes('/a by ada\n'), text);
    ok(text.includes('[BasicAuth] refused: wrong password of "ada"'), text);
    ok(!text.includes('opensesame'), text);
  });

  it('requires all credentials of an endpoint', async () => {
    const extra_config = {
      'auth/basic': {},
      'auth/api-keys': { roles: [], identifier: 'X-Key' },
    };
    const keys = { 'auth/api-keys': { keys: [{ key: 'k' }] } };
    gateway = await startGateway(config({ users: { ada: hash } }, [guarded({ extra_config })], keys));
    deepEqual(
      [
        await statusOf('/a', credentials('ada')),
        await statusOf('/a', { 'x-key': 'k' }),
        await statusOf('/a', { 'x-key': 'k', ...credentials('ada') }),
      ],
      [401, 401, 200],
    );
  });
});
