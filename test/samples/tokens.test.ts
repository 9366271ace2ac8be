import { deepEqual, match } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Operations } from '#kernel';
import { sluice } from '../kernel/cli/command.ts';
import { startProcess } from '../kernel/cli/running.ts';
import { forge } from '../plugins/auth/fixture.ts';
import { freePort } from '../support/conditions.ts';
import { json, startBackend, startGateway, type TestBackend } from '../support/gateway.ts';

describe('the sample "tokens"', () => {
  let backend: TestBackend;
  let gateway: Operations;

  before(async () => {
    backend = await startBackend((seen, response) => json(bodies[seen.target] ?? { ok: true })(seen, response));
    const config = JSON.parse(readFileSync('samples/tokens/gateway.json', 'utf8'));
    gateway = await startGateway({
      ...config,
      host: [backend.url],
      endpoints: config.endpoints.filter(({ endpoint }: { endpoint: string }) => endpoint !== '/reports'),
    });
  });
  after(async () => {
    await gateway.close();
    await backend.close();
  });

  const claimsOfAda = { iss: 'https://id.example.com', aud: 'https://api.example.com', sub: 'ada' };
  const bodies: Record<string, object> = {
    '/login': { access_token: claimsOfAda },
    '/': { access_token: 'of-the-gateway' },
  };
  const [key] = JSON.parse(readFileSync('samples/tokens/keys.json', 'utf8')).keys;
  const statusOf = async (url: string, claims: object) => {
    const token = forge({ alg: 'HS256', kid: key.kid }, claims, Buffer.from(key.k, 'base64url'));
    return (await gateway.inject({ url, headers: { authorization: `Bearer ${token}` } })).statusCode;
  };

  it('passes check without warnings', async () => {
    const { code, err } = await sluice('check', '-c', 'samples/tokens/gateway.json');
    deepEqual([code, err], [0, '']);
  });

  it('issues a token to a user whom the login backend accepts, and accepts that token afterwards', async () => {
    const { access_token: token } = (await gateway.inject({ method: 'POST', url: '/login', payload: '{}' })).json();
    deepEqual((await gateway.inject({ url: '/me', headers: { authorization: `Bearer ${token}` } })).statusCode, 200);
  });

  it('sends the user of the token to the backend', async () => {
    deepEqual([await statusOf('/me', claimsOfAda), await statusOf('/me', { sub: 'ada' })], [200, 401]);
    const { target, headers } = backend.requests.at(-1)!;
    deepEqual([target, headers['x-user']], ['/users/ada', 'ada']);
  });

  it('requests invoices with its own token, and warns about an unset secret', async () => {
    const file = 'samples/tokens/invoices.json';
    const { code, err } = await sluice('check', '-c', file);
    deepEqual([code, err.match(/\[\w+\]/g)], [0, ['[CONFIG_VARIABLE]']]);
    const text = readFileSync(file, 'utf8').replace('https://id.example.com/oauth/token', backend.url);
    const invoices = await startGateway({ ...JSON.parse(text), host: [backend.url] });
    await invoices.inject({ url: '/invoices', headers: { authorization: 'Bearer of-the-client' } });
    await invoices.close();
    const { target, headers } = backend.requests.at(-1)!;
    deepEqual([target, headers.authorization], ['/invoices', 'Bearer of-the-gateway']);
  });

  it('can revoke tokens', async () => {
    const file = 'samples/tokens/revocation.json';
    const { code, err } = await sluice('check', '-c', file);
    deepEqual([code, err.match(/\[\w+\]/g)], [0, ['[CONFIG_VARIABLE]']]);
    const config = JSON.parse(readFileSync(file, 'utf8').replace('"port": 1234', `"port": ${await freePort()}`));
    const revoker = config.extra_config['auth/revoker'];
    const revoking = await startGateway({ ...config, host: [backend.url] });
    const token = forge({ alg: 'HS256', kid: key.kid }, { sub: 'ada' }, Buffer.from(key.k, 'base64url'));
    const status = async () =>
      (await revoking.inject({ url: '/me', headers: { authorization: `Bearer ${token}` } })).statusCode;
    deepEqual(await status(), 200);
    await fetch(`http://127.0.0.1:${revoker.port}/add`, {
      method: 'POST',
      headers: { authorization: `Bearer ${revoker.revoke_server_api_key}` },
      body: '{"elems":["sub-ada"]}',
    });
    deepEqual(await status(), 401);
    await revoking.close();
  });

  it('can revoke tokens at a revoke server with the commands of its guide', async () => {
    const guide = readFileSync('samples/tokens/README.md', 'utf8');
    const [, command] = /^ {4}GATEWAY_PORT=8082 sluice (revoker .+) &$/m.exec(guide)!;
    const [curl] = /curl -X POST .+tokens\/sub\/ada$/m.exec(guide)!;
    const env = {
      REVOKE_KEY: 'key-of-this-test',
      GATEWAY_ENV_INTERPOLATION: '1',
      GATEWAY_PORT: String(await freePort()),
    };
    const server = startProcess(env, ...command!.split(' '));
    await server.printed(/listening/i);
    const post = curl.replace('curl', 'curl -sS --fail-with-body -i').replace('8082', env.GATEWAY_PORT);
    const { stdout } = await promisify(execFile)('bash', ['-c', post], { env: { ...process.env, ...env } });
    match(stdout, /^HTTP\/1\.1 20/);
    await server.stop();
  });

  it('requires a role and a scope for orders', async () => {
    const roles = { realm_access: { roles: ['admin'] } };
    deepEqual(
      [
        await statusOf('/orders', { ...roles, scope: 'orders:read' }),
        await statusOf('/orders', roles),
        await statusOf('/orders', { scope: 'orders:read' }),
      ],
      [200, 403, 403],
    );
  });
});
