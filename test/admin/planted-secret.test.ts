import { deepEqual, equal, ok } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reading } from '../../admin/operations/reading.ts';
import { config, openAdmin, type TestAdmin } from './support.ts';

const SECRET = 'PLANTED-IN-THE-ENVIRONMENT';
/** A host name that the log contains if it cannot be resolved. */
const HOST = 'name-of-the-environment';
const planted = '{{ env "PLANTED" }}';

const tokens = [
  { id: 'r', sha256: createHash('sha256').update('reader').digest('hex'), scopes: ['read', 'check', 'ops'] },
  { id: 'w', sha256: createHash('sha256').update('writer').digest('hex'), scopes: ['read', 'write', 'secrets'] },
];

const backend = {
  url_pattern: `/a?api_key=${planted}`,
  host: ['http://{{ env "PLANTED_HOST" }}.test:9'],
};

/** Fields that can contain a secret from the environment. */
const template = {
  version: 3,
  name: planted,
  extra_config: {
    'admin/api': { tokens },
    'auth/oidc': {
      public_url: 'https://app.test',
      providers: [{ name: 'main', issuer: 'https://id.test', client_id: 'c', client_secret: planted }],
      session: { secrets: [`${planted}${'x'.repeat(32)}`] },
    },
    'auth/api-keys': { keys: [{ key: planted, roles: ['a'] }] },
  },
  endpoints: [
    {
      endpoint: '/a',
      backend: [
        {
          ...backend,
          extra_config: {
            'modifier/martian': { 'header.Modifier': { scope: ['request'], name: 'X-Upstream', value: planted } },
          },
        },
      ],
    },
    {
      endpoint: '/b',
      extra_config: {
        'modifier/lua-proxy': { pre: `local key = '${planted}'` },
        'auth/introspection': {
          introspection_url: 'http://127.0.0.1:9/',
          client_id: 'c',
          client_secret: planted,
        },
      },
      backend: [
        {
          host: ['http://127.0.0.1:9'],
          url_pattern: '/',
          extra_config: {
            'auth/client-credentials': {
              client_id: 'c',
              client_secret: planted,
              token_url: `http://127.0.0.1:9/${planted}`,
            },
          },
        },
      ],
    },
    {
      endpoint: '/c',
      extra_config: { proxy: { static: { strategy: 'always', data: { any: planted } } } },
      backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }],
    },
  ],
};

describe('a secret from an environment variable', () => {
  let directory: string;
  let one: TestAdmin | undefined;
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'sluice-planted-'));
    process.env['PLANTED'] = SECRET;
    process.env['PLANTED_HOST'] = HOST;
    process.env['FC_ENABLE'] = '1';
    const file = join(directory, 'gateway.json');
    writeFileSync(file, JSON.stringify(template, null, 1).replaceAll('\\"', '"'));
    one = await openAdmin(file, { token: undefined, gateway: { debug: true } });
  });
  afterEach(async () => {
    delete process.env['PLANTED'];
    delete process.env['PLANTED_HOST'];
    delete process.env['FC_ENABLE'];
    await one?.close();
    rmSync(directory, { recursive: true });
  });

  it('is not shown by any operation or log line, in any field', async () => {
    for (const path of ['/a', '/b', '/c', '/nowhere']) await one!.gateway.inject(path);
    const shownBy: string[] = [];
    const read = async (path: string) => {
      const { text } = await one!.ask(path, { token: 'reader' });
      if (text.includes(SECRET) || text.includes(HOST)) shownBy.push(path);
    };
    for (const { method, path } of reading) {
      if (method !== 'GET' || path === '/v1/events') continue;
      await read(path.replace(/[:*]([A-Za-z]+)/g, '1'));
    }
    for (const form of ['effective', 'source', 'rendered']) await read(`/v1/config?form=${form}`);
    for (const path of ['/a', '/b', '/c']) await read(`/v1/routes/match?path=${path}`);
    await read('/v1/revisions/1?content=true');
    await read('/v1/revisions?content=true');
    deepEqual(shownBy, []);
    deepEqual(
      one!.lines.filter((line) => line.includes(SECRET)),
      [],
    );
  });

  it('is shown to a token with the scope for secrets', async () => {
    ok((await one!.ask('/v1/config?reveal=true', { token: 'writer' })).text.includes(SECRET));
  });
});

describe('a secret in the query of url_pattern', () => {
  const given = (pattern: string) => {
    const [first] = config().endpoints;
    const backend = { ...first!.backend[0], url_pattern: pattern };
    return { ...config(), endpoints: [{ ...first, endpoint: '/q/{id}', backend: [backend] }] };
  };

  it('is masked by every operation, and kept when *** is sent back', async () => {
    const one = await openAdmin(given('/x?api_key=very-secret&access_token=very-secret&id={id}'));
    try {
      const { body } = await one.ask('/v1/config?form=source');
      for (const path of ['/v1/config', '/v1/config?form=source', '/v1/routes', '/v1/routes/match?path=/q/1']) {
        ok(!(await one.ask(path)).text.includes('very-secret'), path);
      }
      ok((await one.ask('/v1/routes')).text.includes('/x?api_key=***&access_token=***&id={id}'));
      equal((await one.ask('/v1/config', { method: 'PUT', body })).body.result, 'unchanged');
    } finally {
      await one.close();
    }
  });

  it('is shown if it is only a placeholder', async () => {
    const one = await openAdmin(given('/x?token={id}&tokens=2'));
    try {
      ok((await one.ask('/v1/config')).text.includes('/x?token={id}&tokens=2'));
    } finally {
      await one.close();
    }
  });
});

describe('a clear-text secret in a field that is not marked as secret', () => {
  const secret = 'planted-s3cret';
  const credentials = { client_id: 'c', client_secret: '$X', token_url: 'http://127.0.0.1:9/' };
  const query = `{ user(token: "${secret}") { id } }`;
  const places: readonly [what: string, components: object, kept?: string][] = [
    ['a script', { 'modifier/lua-backend': { pre: `local api_key = "${secret}"` } }],
    ['the text of a query', { 'backend/graphql': { type: 'query', query } }],
    ['a variable of a query', { 'backend/graphql': { type: 'query', query: '{ a }', variables: { token: secret } } }],
    [
      'a parameter of a token request',
      { 'auth/client-credentials': { ...credentials, endpoint_params: { pin: [secret] } } },
    ],
    [
      'an assertion in a token request',
      { 'auth/client-credentials': { ...credentials, endpoint_params: { assertion: [secret], audience: ['shown'] } } },
      'shown',
    ],
  ];
  for (const [what, components, kept] of places) {
    it(`is masked by every operation in ${what}, and kept when *** is sent back`, async () => {
      const [first] = config().endpoints;
      const given = (extra: object) => ({
        ...config(),
        endpoints: [{ ...first, endpoint: '/q', backend: [{ ...first!.backend[0], extra_config: extra }] }],
      });
      const one = await openAdmin(given(components));
      try {
        const shownBy: string[] = [];
        const read = async (path: string, options?: object) => {
          const { text } = await one.ask(path, options);
          if (text.includes(secret)) shownBy.push(path);
          return text;
        };
        for (const { method, path } of reading) {
          if (method === 'GET' && path !== '/v1/events') await read(path.replace(/[:*]([A-Za-z]+)/g, '1'));
        }
        for (const form of ['effective', 'source', 'rendered']) await read(`/v1/config?form=${form}`);
        await read('/v1/routes/match?path=/q');
        await read('/v1/config/diff', { method: 'POST', body: given({}) });
        await read('/v1/check', { method: 'POST', body: { ...given(components), nonsense: 1 } });
        const text = await read('/v1/config?form=source');
        deepEqual([shownBy, kept === undefined || text.includes(kept)], [[], true]);
        const { body } = await one.ask('/v1/config?form=source');
        equal((await one.ask('/v1/config', { method: 'PUT', body })).body.result, 'unchanged');
        deepEqual(
          one.lines.filter((line) => line.includes(secret)),
          [],
        );
      } finally {
        await one.close();
      }
    });
  }
});

describe('a credential header in the settings of a component', () => {
  it('is masked as a value, and kept when *** is sent back', async () => {
    const modifier = { 'header.Modifier': { scope: ['request'], name: 'Authorization', value: 'Basic very-secret' } };
    const [first] = config().endpoints;
    const given = {
      ...config(),
      endpoints: [
        {
          ...first,
          extra_config: {},
          backend: [{ ...first!.backend[0], extra_config: { 'modifier/martian': modifier } }],
        },
      ],
    };
    const one = await openAdmin(given);
    try {
      const { body, text } = await one.ask('/v1/config?form=source');
      ok(!text.includes('very-secret'));
      equal((await one.ask('/v1/config', { method: 'PUT', body })).body.result, 'unchanged');
    } finally {
      await one.close();
    }
  });

  it('is masked in a single value, a comparison and an error', async () => {
    const [first] = config().endpoints;
    const withHeader = (value: unknown) => ({
      ...config(),
      endpoints: [
        {
          ...first,
          backend: [
            {
              ...first!.backend[0],
              extra_config: {
                'modifier/martian': { 'header.Modifier': { scope: ['request'], name: 'Authorization', value } },
              },
            },
          ],
        },
      ],
    });
    const one = await openAdmin(withHeader('Basic very-secret'));
    try {
      const pointer = '/endpoints/0/backend/0/extra_config/modifier~1martian/header.Modifier/value';
      const shown = [
        await one.ask(`/v1/config?form=source&pointer=${pointer}`),
        await one.ask(`/v1/config?pointer=${pointer}`),
        await one.ask('/v1/config/diff', { method: 'POST', body: withHeader('Basic another-one') }),
        await one.ask('/v1/check', { method: 'POST', body: withHeader('Basic very-secret\n') }),
      ];
      deepEqual(
        shown.map(({ status }) => status),
        [200, 200, 200, 422],
      );
      deepEqual(
        shown.filter(({ text }) => /very-secret|another-one/.test(text)).map(({ text }) => text),
        [],
      );
    } finally {
      await one.close();
    }
  });
});
