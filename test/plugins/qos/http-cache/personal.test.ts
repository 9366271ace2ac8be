import { deepEqual, equal } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mock } from 'node:test';
import { offer } from '#contract';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { catalogue } from '../../../../plugins/index.ts';
import { plugin as martian } from '../../../../plugins/modifier/martian/index.ts';
import { ANY_HEADER, personalHeaders } from '../../../../plugins/shared/http-headers/personal.ts';
import { type SeenRequest, startBackend, startGateway } from '../../../support/gateway.ts';
import { forge } from '../../auth/fixture.ts';
import { Bench, holdTime, pass } from './testbed.ts';

const [key] = JSON.parse(readFileSync('samples/tokens/keys.json', 'utf8')).keys;
const secret = Buffer.from(key.k, 'base64url');

const cache = { 'qos/http-cache': { shared: true } };

describe('qos/http-cache with headers that identify the user', () => {
  const bench = new Bench();
  const open = (...names: string[]) => bench.open({}, { offers: [offer(personalHeaders, names)] });
  beforeEach(holdTime);
  afterEach(async () => {
    await bench.close();
    bench.requests.length = 0;
    mock.timers.reset();
  });

  /** Number of backend calls for consecutive requests with these headers; each receives its own response. */
  async function callsOf(kept: string, ...asking: string[]): Promise<number> {
    bench.given = ({ headers: { list } }) => ({ headers: `Cache-Control: ${kept}`, body: list.join() });
    for (const each of asking) await bench.ask(each);
    return bench.calls;
  }

  it('stores a response for its user only', async () => {
    await open('X-User', 'X-Role');
    equal(await callsOf('max-age=60', 'x-user: a', 'X-USER: b', 'X-User: a', 'X-User: a / X-Role: r', ''), 4);
    for (const user of ['a', 'b']) equal((await bench.ask(`X-User: ${user}`)).text.toLowerCase(), `x-user,${user}`);
  });

  for (const kept of ['max-age=60, public', 's-maxage=60']) {
    it(`serves shared responses to all clients: ${kept}`, async () => {
      await open('X-User');
      equal(await callsOf(kept, 'X-User: a', 'X-User: b', ''), 1);
    });
  }

  it('stores a response for its user even if Vary names another header', async () => {
    await open('X-User', 'X-Role');
    equal(await callsOf('max-age=60 / Vary: X-Role', 'X-User: a / X-Role: r', 'X-User: b / X-Role: r'), 2);
  });

  it('distinguishes values of other headers only if Vary names them', async () => {
    await open('X-User');
    equal(await callsOf('max-age=60', 'X-Tenant: a', 'X-Tenant: b'), 1);
  });

  it('treats any header that a script can set as identifying, except common client headers', async () => {
    await open(ANY_HEADER);
    equal(await callsOf('max-age=60', 'X-Made: a', 'X-Made: b', ''), 3);
    equal(await callsOf('max-age=60', 'User-Agent: a / Traceparent: 1', 'Accept-Language: fr / X-Request-Id: 2'), 3);
  });

  it('restricts a shared response to one user when it is revalidated as private', async () => {
    await open('X-User');
    bench.given = { headers: 'Cache-Control: max-age=60, public / ETag: "1"', body: 'a' };
    await bench.ask('X-User: a');
    pass(100);
    bench.given = { status: 304, headers: 'Cache-Control: max-age=60', body: null };
    equal((await bench.ask('X-User: a')).text, 'a');
    bench.given = { headers: 'Cache-Control: max-age=60', body: 'b' };
    equal((await bench.ask('X-User: b')).text, 'b');
    equal((await bench.ask('X-User: a')).text, 'a');
    equal(bench.calls, 3);
  });

  for (const now of ['private, max-age=60', 'no-store']) {
    it(`drops a response that is revalidated with ${now}`, async () => {
      await open();
      bench.given = { headers: 'Cache-Control: max-age=60 / ETag: "1"', body: 'a' };
      await bench.ask();
      pass(100);
      bench.given = { status: 304, headers: `Cache-Control: ${now}`, body: null };
      equal((await bench.ask()).text, 'a');
      await bench.ask();
      equal(bench.saw('if-none-match'), undefined);
    });
  }

  it('takes into account headers that modifiers copy, but not generated request IDs', async () => {
    const offered = async (config: object) => {
      const testbed = await openHarness(martian, 'backend', config);
      const names = testbed.attached.offers?.filter(({ port }) => port.name === personalHeaders.name);
      await testbed.close();
      return names?.flatMap(({ value }) => value);
    };
    const scope = ['request'];
    deepEqual(await offered({ 'header.Copy': { scope, from: 'Authorization', to: 'X-Token' } }), ['X-Token']);
    deepEqual(await offered({ 'header.Modifier': { scope, name: 'X-Key', value: '1' } }), ['X-Key']);
    deepEqual(await offered({ 'header.Id': { scope } }), []);
  });
});

describe('components that run custom code', () => {
  for (const name of [
    ...['modifier/lua-endpoint', 'modifier/lua-proxy', 'modifier/lua-backend'],
    ...['plugin/http-client', 'plugin/http-server', 'plugin/middleware', 'plugin/req-resp-modifier'],
  ] as const) {
    it(`can set headers that identify the user: ${name}`, async () => {
      const { plugin } = await catalogue.plugins[name]!();
      equal(plugin.offers?.includes(personalHeaders), true);
    });
  }
});

describe('a store shared by several backends', () => {
  let answer: (seen: SeenRequest) => string;

  /** Responses of two endpoints, in order. */
  async function ask(first: object, second: object, headers: Record<string, string> = {}): Promise<[string[], number]> {
    const backend = await startBackend((seen, response) => {
      const isToken = seen.target === '/token';
      const body = isToken ? '{"access_token":"t","expires_in":600}' : answer(seen);
      response.writeHead(200, {
        'Content-Type': 'application/json',
        ...(!isToken && { 'Cache-Control': 'max-age=60, public' }),
      });
      response.end(body);
    });
    const one = (endpoint: string, extra: object) => ({
      ...{ endpoint, input_headers: ['*'], output_encoding: 'no-op' },
      backend: [{ url_pattern: '/x', extra_config: { ...cache, ...extra } }],
    });
    const fill = (extra: object) => JSON.parse(JSON.stringify(extra).replaceAll('BACKEND', backend.url)) as object;
    const gateway = await startGateway({
      host: [backend.url],
      allow_insecure_connections: true,
      endpoints: [one('/a', fill(first)), one('/b', fill(second))],
    });
    const bodies = [];
    for (const url of ['/a', '/b']) bodies.push((await gateway.inject({ url, headers })).body);
    const calls = backend.requests.filter(({ target }) => target === '/x').length;
    await gateway.close();
    await backend.close();
    return [bodies, calls];
  }

  it("never returns a response for another backend's credentials to a request without them", async () => {
    answer = ({ headers }) => JSON.stringify(headers.authorization ?? 'nobody');
    const secret = { 'auth/client-credentials': { client_id: 'a', client_secret: 'b', token_url: 'BACKEND/token' } };
    deepEqual(await ask(secret, {}), [['"Bearer t"', '"nobody"'], 2]);
    deepEqual(await ask(secret, secret), [['"Bearer t"', '"Bearer t"'], 1]);
  });

  it("never returns a response for one user's claims to another user", async () => {
    const { gateway, close } = await openGateway({
      input_headers: ['X-User'],
      extra_config: {
        'auth/validator': {
          ...{ alg: 'HS256', jwk_local_path: 'samples/tokens/keys.json' },
          propagate_claims: [['sub', 'X-User']],
        },
      },
    });
    const of = async (sub: string) => {
      const token = forge({ alg: 'HS256', kid: 'sample' }, { sub, roles: ['reader'] }, secret);
      const { statusCode, body } = await gateway.inject({ url: '/a', headers: { authorization: `Bearer ${token}` } });
      return [statusCode, body];
    };
    deepEqual(
      [await of('ada'), await of('bob'), await of('ada')],
      [
        [200, '"ada"'],
        [200, '"bob"'],
        [200, '"ada"'],
      ],
    );
    equal(await close(), 2);
  });

  it('never returns a response for a header set by a script to another user', async () => {
    const { gateway, close } = await openGateway({
      input_headers: ['X-Token'],
      extra_config: {
        'modifier/lua-proxy': {
          pre: "local r = request.load(); r:headers('X-User', r:headers('X-Token')); r:headers('X-Token', '')",
        },
      },
    });
    const of = async (token: string) => (await gateway.inject({ url: '/a', headers: { 'x-token': token } })).body;
    deepEqual([await of('ada'), await of('bob'), await of('ada')], ['"ada"', '"bob"', '"ada"']);
    equal(await close(), 2);
  });

  /** A gateway whose backend responds with the given user, cacheable for a minute. */
  async function openGateway(endpoint: object) {
    const backend = await startBackend(({ headers }, response) => {
      response.writeHead(200, { 'Cache-Control': 'max-age=60' }).end(JSON.stringify(headers['x-user']));
    });
    const gateway = await startGateway({
      endpoints: [
        {
          ...{ endpoint: '/a', output_encoding: 'no-op', ...endpoint },
          backend: [{ host: [backend.url], url_pattern: '/x', extra_config: cache }],
        },
      ],
    });
    const close = async () => {
      await gateway.close();
      await backend.close();
      return backend.requests.length;
    };
    return { gateway, close };
  }
});
