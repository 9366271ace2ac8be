import { deepEqual, equal } from 'node:assert/strict';
import { plugin } from '../../../../plugins/auth/oidc/index.ts';
import { startGateway } from '../../../support/gateway.ts';
import { openHarness } from '../../../support/harness.ts';
import { findingsOf } from '../fixture.ts';

const secrets = ['s'.repeat(32)];
const provider = { name: 'main', issuer: 'https://id.test', client_id: 'gate', client_secret: 'of-the-gate' };
const root = (more: object = {}, client: object = {}, session: object = {}) => ({
  public_url: 'https://app.test',
  providers: [{ ...provider, ...client }],
  session: { secrets, ...session },
  ...more,
});

describe('the configuration of auth/oidc', () => {
  const { client_secret: _secret, ...bare } = provider;

  for (const [name, config, expected] of [
    ['another scheme', root({ public_url: 'ftp://app.test' }), ['OIDC_URL', '/public_url']],
    ['a query', root({ public_url: 'https://app.test/?x' }), ['OIDC_URL', '/public_url']],
    ['credentials', root({ public_url: 'https://u@app.test' }), ['OIDC_URL', '/public_url']],
    ['a password', root({ public_url: 'https://:p@app.test' }), ['OIDC_URL', '/public_url']],
    ['no TLS', root({ public_url: 'http://app.test' }), ['OIDC_URL', '/public_url']],
    ['an issuer that is not a URL', root({}, { issuer: 'id.test' }), ['OIDC_URL', '/providers/0/issuer']],
    ['two equal names', root({ providers: [provider, provider] }), ['OIDC_NAME', '/providers/1/name']],
    [
      'two equal paths',
      root({
        providers: [
          { ...provider, path: '/x' },
          { ...provider, name: 'b', path: '/x' },
        ],
      }),
      ['OIDC_PATH', '/providers/1/path'],
    ],
    ['an idle timeout of 0', root({}, {}, { idle_timeout: '0s' }), ['OIDC_SESSION', '/session/idle_timeout']],
    ['no client secret', root({ providers: [bare] }), ['OIDC_CLIENT', '/providers/0']],
    [
      'a secret of a public client',
      root({}, { client_auth_method: 'none' }),
      ['OIDC_CLIENT', '/providers/0/client_secret'],
    ],
    ['a short session', root({}, {}, { max_age: '500ms' }), ['OIDC_SESSION', '/session/max_age']],
    ['an unknown connection', root({}, {}, { connection_name: 'x' }), ['REDIS_CONNECTION', '/session/connection_name']],
    ['a short secret', root({}, {}, { secrets: ['short'] }), ['OIDC_SESSION', '/session/secrets/0']],
    ['no secret', root({}, {}, { secrets: [] }), ['SCHEMA_RANGE', '/session/secrets']],
    ['a name with dots', root({}, { name: 'a.b' }), ['SCHEMA_PATTERN', '/providers/0/name']],
    ['a path without a slash', root({}, { path: 'x' }), ['SCHEMA_PATTERN', '/providers/0/path']],
    [
      'a page of another site after logouts',
      root({}, { post_logout_path: 'https://evil.test' }),
      ['SCHEMA_PATTERN', '/providers/0/post_logout_path'],
    ],
  ] as const) {
    it(`is rejected if it has ${name}`, async () => {
      const [first] = await findingsOf(openHarness(plugin, 'service', config));
      equal(first, expected.join(' '));
    });
  }

  it('is accepted with HTTP to this machine, and with a warning about any other issuer without TLS', async () => {
    const config = root({ public_url: 'http://localhost:8080' }, { issuer: 'http://id.test' });
    const harness = await openHarness(plugin, 'service', config);
    const codes = harness.warnings.map(({ code }) => code).filter((code) => code.startsWith('OIDC'));
    await harness.close();
    deepEqual(codes, ['OIDC_INSECURE']);
  });

  const faults = async (config: object): Promise<string[]> => {
    try {
      await (await startGateway(config)).close();
    } catch (error) {
      return (error as { errors: readonly { code: string; pointer: string }[] }).errors.map(
        ({ code, pointer }) => `${code} ${pointer}`,
      );
    }
    return [];
  };
  const endpoint = (path: string, own: object, more: object = {}) => ({
    endpoint: path,
    backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }],
    extra_config: { 'auth/oidc': own },
    ...more,
  });
  const at = (index: number, field: string) => `/endpoints/${index}/${field}`;

  it('is rejected if an endpoint has a path of a provider, or names an undeclared provider', async () => {
    const two = root({ providers: [provider, { ...provider, name: 'second' }] });
    deepEqual(
      await faults({
        extra_config: { 'auth/oidc': two },
        endpoints: [
          endpoint('/oidc/main/callback', { provider: 'main' }),
          endpoint('/oidc/second/logout', { provider: 'main' }, { method: 'POST' }),
          endpoint('/a', {}),
          endpoint('/b', { provider: 'secnd' }),
        ],
      }),
      [
        `OIDC_PROVIDER ${at(2, 'extra_config/auth~1oidc')}`,
        `OIDC_PROVIDER ${at(3, 'extra_config/auth~1oidc/provider')}`,
        `ROUTE_COLLISION ${at(0, 'endpoint')}`,
        `ROUTE_COLLISION ${at(1, 'endpoint')}`,
      ],
    );
    deepEqual(await faults({ endpoints: [endpoint('/a', {})] }), [`OIDC_PROVIDER ${at(0, 'extra_config/auth~1oidc')}`]);
    equal((await faults({ extra_config: { 'auth/oidc': root() }, endpoints: [endpoint('/a', {})] })).length, 0);
  });

  it('causes a warning if the variables of an endpoint match a path of a provider', async () => {
    const gateway = await startGateway({
      disable_rest: true,
      extra_config: { 'auth/oidc': root() },
      endpoints: [
        endpoint('/oidc/{name}/login', {}),
        endpoint('/{area}/main/back{what}', {}, { method: 'POST' }),
        endpoint('/oidc/{name}/callback', {}, { method: 'POST' }),
        endpoint('/oidc/{name}/profile', {}),
        endpoint('/{a}/{b}/{c}', {}),
        endpoint('/oidc/{name}', {}),
      ],
    });
    const found = gateway.status.warnings.filter(({ code }) => code === 'ROUTE_SHADOWED');
    await gateway.close();
    deepEqual(
      found.map(({ pointer, message }) => [pointer, message]),
      [
        [
          at(0, 'endpoint'),
          '"auth/oidc" answers GET /oidc/main/login: such requests never reach GET /oidc/{name}/login',
        ],
        [
          at(1, 'endpoint'),
          '"auth/oidc" answers POST /oidc/main/backchannel-logout: such requests never reach POST /{area}/main/back{what}',
        ],
      ],
    );
  });
});
