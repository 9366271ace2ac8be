// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in a configuration are written so.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Operations } from '#kernel';
import { until } from '../../support/conditions.ts';
import { openGateway, rememberingSinks } from '../../support/gateway.ts';
import { TestVault } from '../../support/vault.ts';

describe('secrets/vault', () => {
  let vault: TestVault;
  let directory: string;
  let gateway: Operations | undefined;
  let sinks: ReturnType<typeof rememberingSinks>;

  beforeEach(async () => {
    vault = await new TestVault().start();
    directory = mkdtempSync(join(tmpdir(), 'sluice-vault-'));
    sinks = rememberingSinks();
    vault.secrets.set('kv/orders', { token: 'kv-two-secret', nested: { a: 1 } });
    vault.secrets.set('old/orders', { token: 'kv-one-secret' });
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    await vault.close();
    rmSync(directory, { recursive: true });
  });

  const appRole = { method: 'approle', role_id: 'the-role', secret_id: 'the-secret-id' };
  const configOf = (value: string, settings: object = {}) => ({
    version: 3,
    extra_config: {
      'secrets/vault': { address: vault.url, auth: appRole, startup_timeout: '0s', ...settings },
    },
    endpoints: [
      {
        endpoint: '/a',
        backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }],
        extra_config: { proxy: { static: { strategy: 'always', data: { value } } } },
      },
    ],
  });
  const start = async (value: string, settings: object = {}): Promise<void> => {
    gateway = await openGateway(configOf(value, settings) as never, { port: 0, sinks });
  };
  const value = async () => (JSON.parse((await gateway!.inject('/a')).payload) as { value: unknown }).value;
  const paths = () => vault.requests.map(({ method, path }) => `${method} ${path}`);

  it('reads key/value engines of both versions, with one login', async () => {
    await start('${vault:kv/orders#token} ${vault:old/orders#token}');
    equal(await value(), 'kv-two-secret kv-one-secret');
    equal(vault.count('auth/approle/login'), 1);
    ok(paths().includes('GET kv/data/orders') && paths().includes('GET old/orders'), paths().join('\n'));
  });

  it('fetches a secret once for all of its fields', async () => {
    await start('${vault:kv/orders#token} ${vault:kv/orders#nested}');
    equal(await value(), 'kv-two-secret {"a":1}');
    equal(vault.count('kv/data/orders'), 1);
  });

  it('uses kv_version if the token has no permission to read the mounts', async () => {
    const token = vault.issue(3600, { denied: ['sys/internal'] });
    await start('${vault:kv/orders#token}', { auth: { method: 'token', token }, kv_version: 2 });
    equal(await value(), 'kv-two-secret');
  });

  it('uses the path unchanged if the engine is unknown', async () => {
    const token = vault.issue(3600, { denied: ['sys/internal'] });
    await start('${vault:old/orders#token}', { auth: { method: 'token', token } });
    equal(await value(), 'kv-one-secret');
  });

  for (const [method, auth, files] of [
    ['a token', () => ({ method: 'token', token: vault.issue() }), {}],
    [
      'a token in a file',
      () => ({ method: 'token', token_file: join(directory, 'token') }),
      { token: () => `${vault.issue()}\n` },
    ],
    ['AppRole', () => appRole, {}],
    [
      'AppRole and a secret ID in a file',
      () => ({ method: 'approle', role_id: 'the-role', secret_id_file: join(directory, 'id') }),
      { id: () => 'the-secret-id\n' },
    ],
    [
      'the service account of Kubernetes',
      () => ({ method: 'kubernetes', role: 'gateway', mount: 'kubernetes-eu', token_file: join(directory, 'jwt') }),
      { jwt: () => 'pod.token.signature' },
    ],
  ] as const) {
    it(`logs in with ${method}`, async () => {
      for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), (text as () => string)());
      await start('${vault:kv/orders#token}', { auth: auth() });
      equal(await value(), 'kv-two-secret');
    });
  }

  it('sends the namespace with the login and every request', async () => {
    vault.namespace = 'team-a';
    await start('${vault:kv/orders#token}', { namespace: 'team-a' });
    deepEqual([...new Set(vault.requests.map(({ headers }) => headers['x-vault-namespace']))], ['team-a']);
  });

  it('keeps its token across reloads', async () => {
    await start('${vault:kv/orders#token}');
    await gateway!.reload(configOf('x ${vault:kv/orders#token}') as never);
    deepEqual([await value(), vault.count('auth/approle/login')], ['x kv-two-secret', 1]);
  });

  it('applies a new version of a secret after the interval', async () => {
    await start('${vault:kv/orders#token}', { refresh_interval: '30ms' });
    vault.secrets.set('kv/orders', { token: 'rotated-secret' });
    await until(async () => (await value()) === 'rotated-secret');
    equal(gateway!.attempts.list[0]!.trigger, 'secret');
  });

  it('continues to serve with the known values while the server is sealed, and recovers', async () => {
    await start('${vault:kv/orders#token}', { refresh_interval: '30ms' });
    vault.sealed = true;
    await until(() => gateway!.secrets.failing.length > 0);
    deepEqual(gateway!.secrets.failing, [{ secret: 'vault:kv/orders', reason: 'status 503: Vault is sealed' }]);
    equal(await value(), 'kv-two-secret');
    vault.sealed = false;
    await until(() => gateway!.secrets.failing.length === 0);
  });

  it('logs in again when its token has been revoked', async () => {
    await start('${vault:kv/orders#token}', { refresh_interval: '30ms' });
    vault.tokens.clear();
    vault.secrets.set('kv/orders', { token: 'rotated-secret' });
    await until(async () => (await value()) === 'rotated-secret');
    equal(vault.count('auth/approle/login'), 2);
  });

  it('does not log in again for a path that its token has no permission to read', async () => {
    const token = vault.issue(3600, { denied: ['kv/'] });
    const message = /cannot fetch \$\{vault:kv\/orders#token\}: status 403: permission denied/;
    await rejects(start('${vault:kv/orders#token}', { auth: { method: 'token', token } }), message);
    equal(vault.count('kv/data/orders'), 1);
  });

  it('renews its token before it expires', async () => {
    vault.tokenTtl = 1;
    await start('${vault:kv/orders#token}');
    await until(() => vault.count('auth/token/renew-self') > 0);
    equal(vault.count('auth/approle/login'), 1);
  });

  it('logs in again when its token reaches its maximum lifetime, and replaces leased secrets', async () => {
    Object.assign(vault, { tokenTtl: 1, isRenewable: false });
    await start('${vault:database/creds/app#password}');
    equal(await value(), 'password-1');
    await until(async () => (await value()) === 'password-2');
    ok(vault.count('auth/approle/login') >= 2);
  });

  it('renews leases, and replaces a secret whose lease cannot be renewed', async () => {
    Object.assign(vault, { leaseTtl: 1, renewedLeaseTtl: 1 });
    await start('${vault:database/creds/app#username}:${vault:database/creds/app#password}');
    await until(() => vault.count('sys/leases/renew') > 0);
    equal(await value(), 'user-1:password-1');
    vault.leases.clear();
    await until(async () => (await value()) === 'user-2:password-2');
  });

  it('follows a standby server to the active one', async () => {
    const standby = await new TestVault().start();
    standby.active = vault.url;
    try {
      await start('${vault:kv/orders#token}', { address: standby.url });
      equal(await value(), 'kv-two-secret');
    } finally {
      await standby.close();
    }
  });

  it('does not follow a redirect to another path', async () => {
    vault.active = 'http://127.0.0.1:9/elsewhere';
    await rejects(start('${vault:kv/orders#token}'), /the server redirects to an address that is not accepted/);
  });

  it('waits for the server at startup', async () => {
    vault.sealed = true;
    const starting = start('${vault:kv/orders#token}', { startup_timeout: '20s' });
    await until(() => vault.requests.length > 1);
    vault.sealed = false;
    await starting;
    equal(await value(), 'kv-two-secret');
    match(sinks.lines.join(''), /waiting for the secret vault:kv\/orders: status 503: Vault is sealed/);
  });

  for (const [title, reference, message] of [
    ['a missing secret', '${vault:kv/none#token}', /status 404: no such secret/],
    ['a missing field', '${vault:kv/orders#none}', /it has no field "none"/],
    ['a path that leads elsewhere', '${vault:kv/../sys/seal#a}', /"kv\/\.\.\/sys\/seal" is not a valid path/],
    ['a path with a query', '${vault:kv/orders?version=1#a}', /is not a valid path/],
  ] as const) {
    it(`rejects ${title}`, async () => {
      await rejects(start(reference), message);
    });
  }

  for (const [title, respond, message] of [
    ['no JSON', '<html>', /the server returned no token/],
    ['a token that is not a header value', '{"auth":{"client_token":"a\\r\\nb"}}', /the server returned no token/],
    ['nothing', '', /the server returned no token/],
  ] as const) {
    it(`rejects a login that returns ${title}`, async () => {
      vault.respond = (response) => response.end(respond);
      await rejects(start('${vault:kv/orders#token}'), message);
    });
  }

  it('rejects a server that does not respond in time', async () => {
    vault.respond = () => {};
    await rejects(start('${vault:kv/orders#token}', { timeout: '50ms' }), /SECRET_FETCH/);
  });

  it('rejects a response that is too large', async () => {
    vault.respond = (response) => response.end(`{"auth":"${'x'.repeat(5_000_000)}"}`);
    await rejects(start('${vault:kv/orders#token}'), /SECRET_FETCH/);
  });

  it('never shows its token, even if the server repeats it', async () => {
    const token = vault.issue();
    vault.respond = (response) => {
      response.writeHead(500).end(JSON.stringify({ errors: [`bad token ${token}`] }));
    };
    await rejects(start('${vault:kv/orders#token}', { auth: { method: 'token', token } }), (error: Error) => {
      ok(error.message.includes('status 500: bad token ***') && !error.message.includes(token), error.message);
      return true;
    });
  });

  for (const [title, settings, message] of [
    [
      'an address that is not a URL',
      { address: 'vault:8200' },
      /VAULT_ADDRESS {2}"vault:8200" is not an http or https URL/,
    ],
    [
      'AppRole without a secret ID',
      { auth: { method: 'approle', role_id: 'a' } },
      /VAULT_AUTH .*requires "secret_id" or "secret_id_file"/,
    ],
    ['a token login without a token', { auth: { method: 'token' } }, /requires "token" or "token_file"/],
    ['Kubernetes without a role', { auth: { method: 'kubernetes' } }, /requires "role"/],
    ['an unknown method', { auth: { method: 'ldap' } }, /SCHEMA_ENUM/],
  ] as const) {
    it(`rejects ${title}`, async () => {
      await rejects(start('x', settings), message);
    });
  }

  it('must be configured before a configuration can refer to it', async () => {
    const { extra_config: _, ...config } = configOf('${vault:kv/orders#token}');
    await rejects(
      openGateway(config as never, { port: 0, sinks }),
      /SECRET_STORE {2}\$\{vault:kv\/orders#token\} requires the component "secrets\/vault"/,
    );
  });

  it('warns of an address without TLS', async () => {
    await start('x', { address: 'http://vault.example.com:8200' });
    deepEqual(
      gateway!.status.warnings.map(({ code }) => code),
      ['VAULT_INSECURE', 'SECRET_LITERAL'],
    );
  });
});
