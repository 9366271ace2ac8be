import { deepEqual } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Operations } from '#kernel';
import { forge } from '../plugins/auth/fixture.ts';
import { json, startBackend, startGateway, type TestBackend } from '../support/gateway.ts';

describe('the sample of tokens', () => {
  let backend: TestBackend;
  let gateway: Operations;

  before(async () => {
    backend = await startBackend(json({ ok: true }));
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

  const [key] = JSON.parse(readFileSync('samples/tokens/keys.json', 'utf8')).keys;
  const statusOf = async (url: string, claims: object) => {
    const token = forge({ alg: 'HS256', kid: key.kid }, claims, Buffer.from(key.k, 'base64url'));
    return (await gateway.inject({ url, headers: { authorization: `Bearer ${token}` } })).statusCode;
  };

  it('tells the backend who asks', async () => {
    const claims = { iss: 'https://id.example.com', aud: 'https://api.example.com', sub: 'ada' };
    deepEqual([await statusOf('/me', claims), await statusOf('/me', { sub: 'ada' })], [200, 401]);
    const { target, headers } = backend.requests[0]!;
    deepEqual([target, headers['x-user']], ['/users/ada', 'ada']);
  });

  it('wants a role and a scope for orders', async () => {
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
