import { deepEqual, equal, ok } from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import type { Operations } from '#kernel';
import { plugin } from '../../../../plugins/auth/http-signatures/index.ts';
import { Nonces } from '../../../../plugins/auth/lib/nonces.ts';
import { json, rememberingSinks, startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';
import { openHarness } from '../../../support/harness.ts';
import { startRedis, withoutRedis } from '../../../support/redis.ts';
import { findingsOf, makeKeyFiles } from '../fixture.ts';

const secret = Buffer.from('a-secret-of-the-tests-of-32-bytes');
const seconds = () => Math.floor(Date.now() / 1000);

/** Headers of a signed request for `/a`. @param params in addition to the key and the time. */
function signed(params: string, keyId = 'k', created = seconds()): Record<string, string> {
  const list = `("@method" "@path");created=${created};keyid="${keyId}"${params}`;
  const base = `"@method": GET\n"@path": /a\n"@signature-params": ${list}`;
  const signature = createHmac('sha256', secret).update(base).digest('base64');
  return { 'signature-input': `sig=${list}`, signature: `sig=:${signature}:` };
}

describe('nonces of HTTP message signatures', () => {
  const files = makeKeyFiles();
  const gateways: Operations[] = [];
  let backend: TestBackend;
  let path: string;

  before(async () => {
    const k = secret.toString('base64url');
    path = files.write({ keys: ['k', 'other'].map((kid) => ({ kty: 'oct', kid, k })) });
    backend = await startBackend(json({ ok: true }));
  });
  after(async () => {
    files.remove();
    await backend.close();
  });
  afterEach(async () => {
    for (const gateway of gateways.splice(0)) await gateway.close();
  });

  const serve = async (config: object = {}, root: object = {}, options: object = {}): Promise<Operations> => {
    const own = { alg: 'HS256', jwk_local_path: path, required_components: ['@method', '@path'], ...config };
    const endpoint = {
      backend: [{ host: [backend.url], url_pattern: '/b' }],
      extra_config: { 'auth/http-signatures': own },
    };
    const endpoints = [{ endpoint: '/a', ...endpoint }];
    gateways.push(await startGateway({ endpoints, extra_config: root }, options));
    return gateways.at(-1)!;
  };
  const status = async (headers: Record<string, string>, gateway = gateways.at(-1)!) =>
    (await gateway.inject({ url: '/a', headers })).statusCode;

  it('are accepted once for each key', async () => {
    await serve({ require_nonce: true });
    const first = signed(';nonce="n"');
    deepEqual(
      [await status(first), await status(first), await status(signed(';nonce="n"', 'k', seconds() - 1))],
      [200, 401, 401],
    );
    deepEqual([await status(signed(';nonce="m"')), await status(signed(';nonce="n"', 'other'))], [200, 200]);
    for (const nonce of ['__proto__', 'constructor']) {
      const named = signed(`;nonce="${nonce}"`);
      deepEqual([await status(named), await status(named)], [200, 401]);
    }
  });

  it('are accepted once if several requests with the same nonce arrive at the same time', async () => {
    await serve({ require_nonce: true });
    const headers = signed(';nonce="together"');
    const statuses = await Promise.all(Array.from({ length: 20 }, () => status(headers)));
    equal(statuses.filter((one) => one === 200).length, 1);
  });

  for (const params of ['', ';nonce=""', ';nonce=1', ';nonce', ';nonce=:YQ==:']) {
    it(`are required if a rule demands them: a signature with ${params || 'no nonce'} is rejected`, async () => {
      await serve({ require_nonce: true });
      equal(await status(signed(params)), 401);
    });
  }

  it('are neither required nor remembered by default', async () => {
    await serve();
    const headers = signed(';nonce="n"');
    deepEqual([await status(signed('')), await status(headers), await status(headers)], [200, 200, 200]);
  });

  it('are not used up by requests with an invalid signature', async () => {
    await serve({ require_nonce: true });
    const headers = signed(';nonce="n"');
    equal(await status({ ...headers, signature: 'sig=:YQ==:' }), 401);
    equal(await status(headers), 200);
  });

  it('are remembered after a reload', async () => {
    const gateway = await serve({ require_nonce: true });
    const headers = signed(';nonce="n"');
    equal(await status(headers), 200);
    const endpoint = { endpoint: '/a', backend: [{ host: [backend.url], url_pattern: '/c' }] };
    const own = {
      alg: 'HS256',
      jwk_local_path: path,
      required_components: ['@method'],
      require_nonce: true,
      max_age: '10m',
    };
    await gateway.reload({ endpoints: [{ ...endpoint, extra_config: { 'auth/http-signatures': own } }] } as never);
    equal(await status(headers), 401);
  });

  it('are shared by workers', async () => {
    const config = {
      alg: 'HS256',
      jwk_local_path: path,
      required_components: ['@method', '@path'],
      require_nonce: true,
    };
    const owner = await openHarness(plugin, 'endpoint', config, { role: 'owner' });
    const workers = [
      await openHarness(plugin, 'endpoint', config, { owner }),
      await openHarness(plugin, 'endpoint', config, { owner }),
    ];
    const headers = Object.entries(signed(';nonce="n"'));
    const statuses = [];
    for (const worker of workers)
      statuses.push((await worker.send({ target: '/a', headers: Object.fromEntries(headers) })).status);
    deepEqual(statuses, [200, 401]);
    for (const one of [...workers, owner]) await one.close();
  });

  it('are limited to 100,000 in memory, and further ones are rejected until earlier ones have expired', () => {
    const nonces = new Nonces();
    for (let at = 0; at < 100_000; at++) equal(nonces.take(String(at), 1000, at < 50_000 ? 0 : 500), true);
    deepEqual([nonces.take('more', 1000, 999), nonces.take('0', 1000, 999)], [null, false]);
    deepEqual(
      [nonces.take('more', 1000, 1000), nonces.take('0', 1000, 1000), nonces.take('99999', 1000, 1000)],
      [true, true, false],
    );
  });

  for (const [config, finding] of [
    [{ connection_name: 'nonces' }, 'HTTP_SIGNATURES_NONCE /connection_name'],
    [{ require_nonce: true, on_failure_allow: true }, 'HTTP_SIGNATURES_NONCE /on_failure_allow'],
    [{ require_nonce: true, connection_name: 'nonces' }, 'REDIS_CONNECTION /connection_name'],
  ] as const) {
    it(`cause a configuration error in ${JSON.stringify(config)}, where they have no effect`, async () => {
      const own = { alg: 'HS256', jwk_local_path: path, ...config };
      deepEqual(await findingsOf(openHarness(plugin, 'endpoint', own)), [finding]);
    });
  }

  const missing = withoutRedis ? `: ${withoutRedis}` : '';
  (withoutRedis ? it.skip : it)(
    `in Redis are shared by gateways, and compared again after an outage${missing}`,
    async () => {
      const redis = await startRedis();
      try {
        const pool = { name: 'nonces', address: redis.address, command_timeout: '10s' };
        const root = { redis: { connection_pools: [pool] } };
        const config = { require_nonce: true, connection_name: 'nonces' };
        const sinks = rememberingSinks();
        const first = await serve(config, root, { sinks });
        const second = await serve(config, root);
        const lenient = await serve({ ...config, on_failure_allow: true, on_failure_status: 502 }, root);
        const headers = signed(';nonce="n"');
        deepEqual([await status(headers, first), await status(headers, second)], [200, 401]);
        const [key] = (await redis.command('KEYS', 'sluice:nonce:*')) as string[];
        ok(Number(await redis.command('PTTL', key!)) > 300_000);
        await redis.stop();
        const during = signed(';nonce="m"');
        deepEqual([await status(during, first), await status(during, lenient)], [503, 200]);
        ok(sinks.lines.some((line) => line.includes('a request is rejected: redis nonces')));
      } finally {
        await redis.close();
      }
    },
  );
});
