import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { sampleData } from '../../../kernel/cases/generate/sample-data.ts';
import { type Baselines, baselinesOf, documentMocks, sandboxData } from '../../../kernel/cases/index.ts';
import { compileMock, MockedServers } from '../../../kernel/cases/mock.ts';
import { injectTest } from '../../../kernel/cases/run-tests.ts';
import { withTools } from '../../../kernel/cli/tools.ts';
import { type OpenSandbox, openSandbox } from '../../../kernel/sandbox/open-sandbox.ts';
import { catalogue } from '../../../plugins/index.ts';
import { createFolder, type Folder } from '../cli/command.ts';

const backend = [{ host: ['http://users:8000'], url_pattern: '/v1' }];

const validator = (more: object) => ({ alg: 'RS256', jwk_url: 'https://id.example.com/keys', ...more });

const config = {
  version: 3,
  extra_config: {
    'auth/api-keys': {
      keys: [
        { key: 'of-user', roles: ['user'] },
        { key: 'of-admin', roles: ['admin'] },
      ],
    },
    'auth/basic': { users: { ada: '$2b$10$jYrjVj9iPcAh4v6d69o2p.fMQ4Skbx9MwuoDqVXxgM8AZXpcsJwWa' } },
  },
  endpoints: [
    { endpoint: '/users/{id}/posts/{post}', input_query_strings: ['page'], input_headers: ['X-Team'], backend },
    { endpoint: '/files/*', backend },
    { endpoint: '/basic', backend, extra_config: { 'auth/basic': {} } },
    { endpoint: '/key', backend, extra_config: { 'auth/api-keys': { roles: ['admin'] } } },
    {
      endpoint: '/query-key',
      backend,
      extra_config: { 'auth/api-keys': { roles: ['admin'], strategy: 'query_string', identifier: 'k' } },
    },
    {
      endpoint: '/token',
      backend,
      extra_config: {
        'auth/validator': validator({ issuer: 'https://id.example.com', audience: ['a', 'b'], roles: ['x'] }),
      },
    },
    {
      endpoint: '/nested',
      backend,
      extra_config: {
        'auth/validator': validator({
          alg: 'ES256',
          roles: ['x'],
          roles_key: 'realm.roles',
          roles_key_is_nested: true,
          scopes: ['read', 'write'],
          scopes_key: 'scope',
          scopes_matcher: 'all',
        }),
      },
    },
    {
      endpoint: '/local',
      backend,
      extra_config: { 'auth/validator': { alg: 'HS256', jwk_local_path: 'samples/tokens/keys.json' } },
    },
    ...['HS512', 'PS512', 'ES512', 'EdDSA'].map((alg) => ({
      endpoint: `/token-${alg}`,
      backend,
      extra_config: { 'auth/validator': validator({ alg }) },
    })),
    {
      endpoint: '/valid',
      method: 'POST',
      backend,
      extra_config: {
        'validation/json-schema': {
          type: 'object',
          required: ['name', 'code', 'tags'],
          properties: {
            name: { type: 'string', minLength: 3 },
            code: { type: 'string', pattern: '^[A-Z]{3}-[0-9]{2}$' },
            mail: { type: 'string', format: 'email' },
            tags: { type: 'array', minItems: 2, uniqueItems: true, items: { type: 'integer', minimum: 5 } },
          },
          additionalProperties: false,
        },
      },
    },
  ],
};

describe('the baseline requests of a configuration', () => {
  let folder: Folder;
  let sandbox: OpenSandbox | undefined;
  beforeEach(() => {
    folder = createFolder();
  });
  afterEach(async () => {
    await sandbox?.close();
    sandbox = undefined;
    folder.remove();
  });

  const generate = (seed = 1) => {
    const file = folder.write('gateway.json', config);
    return withTools({ catalogue }, async (tools) => {
      const examined = await tools.examineFile(file, true);
      deepEqual(examined.errors.map(String), []);
      const baselines = await baselinesOf(examined, examined.registry, seed);
      return { baselines, data: sandboxData(examined.document.data as never, baselines, examined.origin) };
    });
  };
  const summaryOf = ({ requests }: Baselines) => requests.map(({ request }) => `${request.method} ${request.path}`);

  it('are all accepted by their endpoints', async () => {
    const { baselines, data } = await generate();
    const server = compileMock('any', { url: '**', response: { status: 200, headers: {}, body: { id: 1 }, delay: 0 } });
    const mocks = [...documentMocks(baselines), server];
    const own = new MockedServers(mocks, false);
    sandbox = await openSandbox(catalogue, data as object, own);
    const statuses: Record<string, number> = {};
    for (const { route, request } of baselines.requests) {
      const servers = new MockedServers(mocks, false);
      const { status } = await injectTest(sandbox, servers, request, AbortSignal.timeout(10_000));
      statuses[route.id] = status;
    }
    const expected = config.endpoints.map((one) => [`${'method' in one ? one.method : 'GET'} ${one.endpoint}`, 200]);
    deepEqual(statuses, Object.fromEntries(expected));
  });

  it('fill in the variables of the path, and send the listed headers and query parameters', async () => {
    const { baselines } = await generate();
    const { path, headers } = baselines.requests[0]!.request;
    deepEqual([path, headers], ['/users/101/posts/138?page=471', { 'X-Team': 'value-841' }]);
    equal(baselines.requests[1]!.request.path, '/files/any/path');
  });

  it('are the same for the same seed', async () => {
    deepEqual(summaryOf((await generate(5)).baselines), summaryOf((await generate(5)).baselines));
    notEqual(summaryOf((await generate(5)).baselines)[0], summaryOf((await generate(6)).baselines)[0]);
  });

  it('have no body if none can be generated for the schema', async () => {
    equal(await sampleData({ type: 'string', minLength: 100_000_000 }, 1), undefined);
    equal(await sampleData({ $ref: 'https://example.com/schema.json' }, 1), undefined);
    equal(await sampleData({ not: {} }, 1), undefined);
    equal(await sampleData({ type: 'string', pattern: 'a{9999999}' }, 1), undefined);
  });
});
