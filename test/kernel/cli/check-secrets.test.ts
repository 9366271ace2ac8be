// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in a configuration are written so.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { TestVault } from '../../support/vault.ts';
import { createFolder, type Folder, sluice } from './command.ts';

describe('check of references to secrets', () => {
  let folder: Folder;
  let vault: TestVault;
  before(async () => {
    folder = createFolder();
    vault = await new TestVault().start();
    vault.secrets.set('kv/orders', { token: 'kv-two-secret', timeout: 'never-at-all' });
  });
  after(async () => {
    folder.remove();
    await vault.close();
  });

  const config = (fields: object = {}, token = vault.issue()) => ({
    version: 3,
    extra_config: {
      'secrets/vault': { address: vault.url, auth: { method: 'token', token } },
      'auth/api-keys': { keys: [{ key: '${vault:kv/orders#token}', roles: ['user'] }] },
    },
    endpoints: [{ endpoint: '/a', backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }] }],
    ...fields,
  });
  const check = (content: unknown, ...flags: string[]) =>
    sluice('check', ...flags, '-c', folder.write('g.json', content));

  it('needs no store, and accepts references in any field', async () => {
    const before = vault.requests.length;
    const { code, out } = await check(config({ timeout: '${vault:kv/orders#timeout}' }));
    deepEqual([code, vault.requests.length], [0, before], out);
  });

  it('reports a reference in a field that accepts no text, with the type to write after it', async () => {
    const { code, err } = await check(
      config({ port: '${vault:kv/orders#port}', debug_endpoint: '${vault:kv/orders#x}' }),
    );
    equal(code, 1);
    match(err, /'port' must be an integer[\s\S]*Write "\$\{vault:kv\/orders#port\}!int" to convert the value\./);
    match(
      err,
      /'debug_endpoint' must be true or false[\s\S]*Write "\$\{vault:kv\/orders#x\}!bool" to convert the value\./,
    );
    const typed = { port: '${vault:kv/orders#port}!int', debug_endpoint: '${vault:kv/orders#x}!bool' };
    equal((await check(config(typed))).code, 0);
  });

  it('fetches the secrets with --secrets, and checks their values without showing them', async () => {
    const { code } = await check(config(), '--secrets');
    equal(code, 0);
    const { code: failed, err } = await check(config({ timeout: '${vault:kv/orders#timeout}' }), '--secrets');
    equal(failed, 1);
    match(err, /timeout/);
    ok(!err.includes('never-at-all'), err);
  });

  it('prints references instead of values with -d', async () => {
    const { code, out, err } = await check(config({ name: '${vault:kv/orders#token}' }), '--secrets', '-d');
    equal(code, 0, err);
    ok(out.includes('${vault:kv/orders#token}') && !out.includes('kv-two-secret'), out);
  });

  it('reports the line of a reference whose secret is not available', async () => {
    const { code, err } = await check(config({ name: '${vault:kv/none#token}' }), '--secrets');
    equal(code, 1);
    match(err, /cannot fetch \$\{vault:kv\/none#token\}: status 404: no such secret/);
    match(err, /g\.json:\d+:\d+/);
  });

  it('warns of a value with an unknown scheme, and suggests the most similar scheme', async () => {
    const { code, err } = await check(config({ name: '${valut:kv/orders#token}' }));
    equal(code, 0);
    match(err, /\$\{valut:kv\/orders#token\} is used literally: "valut" is not a store of secrets/);
    match(err, /Did you mean "vault"\?/);
    const others = { name: 'a ${b:c}', listen_ip: '127.0.0.1', tags: ['${b:-c}'] };
    ok(!(await check(config(others))).err.includes('SECRET_SCHEME'));
  });

  it('reports a store without settings', async () => {
    const { code, err } = await check(config({ extra_config: {}, name: '${vault:kv/orders#token}' }), '--secrets');
    equal(code, 1);
    match(err, /requires the component "secrets\/vault"/);
  });

  it('does not combine --secrets with --admin', async () => {
    const { code, err } = await check(config(), '--secrets', '--admin', '127.0.0.1:1');
    equal(code, 2);
    match(err, /--secrets cannot be combined with --admin/);
  });
});
