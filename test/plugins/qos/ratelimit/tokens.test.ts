import { deepEqual } from 'node:assert/strict';
import { json, startBackend, startGateway } from '../../../support/gateway.ts';
import { issue, makeKeyFiles, makeSigner } from '../../auth/fixture.ts';

describe('the rate limit of an endpoint with auth/validator', () => {
  it('does not count requests without a token, which get CORS headers, or bots, both of which are rejected earlier', async () => {
    const ada = await makeSigner('RS256', 'ada');
    const files = makeKeyFiles();
    const backend = await startBackend(json({ ok: true }));
    const gateway = await startGateway({
      endpoints: [
        {
          endpoint: '/a',
          backend: [{ host: [backend.url], url_pattern: '/' }],
          extra_config: {
            'auth/validator': { alg: 'RS256', jwk_local_path: files.write({ keys: [ada.jwk] }) },
            'qos/ratelimit/router': { max_rate: 1, capacity: 1, every: '10m' },
            'security/bot-detector': { deny: ['bot'] },
            'security/cors': {},
          },
        },
      ],
    });
    try {
      const ask = async (headers: Record<string, string>) => {
        const response = await gateway.inject({ url: '/a', headers: { origin: 'https://a.io', ...headers } });
        return [response.statusCode, response.headers['access-control-allow-origin']];
      };
      const authorization = `Bearer ${await issue(ada, { sub: 'ada', exp: 4_000_000_000 })}`;
      deepEqual(await ask({}), [401, '*']);
      deepEqual(await ask({ 'user-agent': 'bot' }), [403, '*']);
      deepEqual(await ask({ authorization }), [200, '*']);
      deepEqual(await ask({ authorization }), [503, '*']);
    } finally {
      await gateway.close();
      await backend.close();
      files.remove();
    }
  });
});
