import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSchema, graphql } from 'graphql';
import type { Operations } from '#kernel';
import { startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';

const schema = buildSchema(`
  enum Episode { NEWHOPE EMPIRE JEDI }
  input ReviewInput { stars: Int!, commentary: String }
  type Review { ep: Episode, stars: Int, commentary: String }
  type Hero { name: String, episode: Episode, friends: [String] }
  type Query { hero(episode: Episode, withFriends: Boolean): Hero, broken: String! }
  type Mutation { review(ep: Episode, review: ReviewInput!): Review }
`);

const rootValue = {
  hero: ({ episode, withFriends }: { episode: string; withFriends?: boolean }) => ({
    name: 'R2-D2',
    episode,
    friends: withFriends ? ['Luke'] : null,
  }),
  review: ({ ep, review }: { ep: string; review: object }) => ({ ep, ...review }),
  broken: () => {
    throw new Error('no');
  },
};

const heroQuery =
  'query Hero($episode: Episode, $withFriends: Boolean) { hero(episode: $episode, withFriends: $withFriends) { name episode friends } }';
const hero = {
  type: 'query',
  query: heroQuery,
  operationName: 'Hero',
  variables: { episode: '{episode}', withFriends: false },
};
const review = {
  type: 'mutation',
  query: 'mutation ($ep: Episode, $review: ReviewInput!) { review(ep: $ep, review: $review) { ep stars commentary } }',
  variables: { ep: 'JEDI', review: { stars: 3, commentary: 'meh' } },
};

describe('backend/graphql in a gateway', () => {
  let server: TestBackend;
  let gateway: Operations;

  before(async () => {
    server = await startBackend(async ({ method, target, body }, response) => {
      const url = new URL(target, 'http://server');
      const requested = method === 'GET' ? Object.fromEntries(url.searchParams) : JSON.parse(String(body));
      const variables = method === 'GET' && requested.variables ? JSON.parse(requested.variables) : requested.variables;
      const result = await graphql({
        schema,
        rootValue,
        source: requested.query,
        variableValues: variables,
        operationName: requested.operationName,
      });
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(result));
    });
    const one = (endpoint: string, graph: object, backend: object = {}, around: object = {}) => ({
      endpoint,
      ...around,
      backend: [{ url_pattern: '/graphql', ...backend, extra_config: { 'backend/graphql': graph } }],
    });
    gateway = await startGateway({
      host: [server.url],
      endpoints: [
        one('/hero/{episode}', hero),
        one('/got/{episode}', hero, { method: 'GET' }),
        one('/timed/{episode}', hero, { method: 'GET', url_pattern: '/graphql?timeout=4s' }),
        one('/listed/{episode}', hero, { method: 'GET' }, { input_query_strings: ['trace'] }),
        one('/unwrapped/{episode}', hero, { target: 'data' }),
        one('/review', review, {}, { method: 'POST' }),
        one('/broken', { type: 'query', query: '{ broken }' }),
        one('/hidden', { type: 'query', query: '{ broken }' }, { target: 'data' }),
        {
          endpoint: '/both',
          method: 'POST',
          backend: [1, 2].map((each) => ({
            url_pattern: '/graphql',
            group: `g${each}`,
            extra_config: { 'backend/graphql': review },
          })),
        },
      ],
    });
  });
  after(async () => {
    await gateway.close();
    await server.close();
  });

  const last = () => server.requests.at(-1)!;
  const post = (url: string, payload?: string) =>
    gateway.inject({ url, method: 'POST', ...(payload !== undefined && { payload }) });

  it("sends path parameters as variables in a POST request, regardless of the endpoint's method", async () => {
    const { data } = (await gateway.inject('/hero/JEDI')).json();
    deepEqual(data.hero, { name: 'R2-D2', episode: 'JEDI', friends: null });
    const { method, headers, body } = last();
    deepEqual(
      [method, headers['content-type'], headers['content-length']],
      ['POST', 'application/json', String(body.length)],
    );
    deepEqual(JSON.parse(String(body)), {
      query: heroQuery,
      operationName: 'Hero',
      variables: { episode: 'JEDI', withFriends: false },
    });
  });

  it('sends a GET request with query parameters and no body if the backend is configured for GET', async () => {
    equal((await gateway.inject('/got/JEDI')).json().data.hero.episode, 'JEDI');
    const { method, target, headers, body } = last();
    const { pathname, searchParams } = new URL(target, 'http://server');
    deepEqual([method, pathname, body.length, headers['content-type']], ['GET', '/graphql', 0, 'application/json']);
    deepEqual(Object.fromEntries(searchParams), {
      query: heroQuery,
      operationName: 'Hero',
      variables: '{"episode":"JEDI","withFriends":false}',
    });
    ok(!target.includes(' ') && target.includes('variables=%7B'));
  });

  it('adds its parameters to the query of url_pattern', async () => {
    equal((await gateway.inject('/timed/JEDI')).statusCode, 200);
    match(last().target, /^\/graphql\?timeout=4s&.*query=/);
  });

  it('adds its parameters to the forwarded query parameters', async () => {
    await gateway.inject('/listed/JEDI?trace=1&evil=1');
    match(last().target, /^\/graphql\?trace=1&operationName=Hero&query=/);
  });

  it("merges the body's top-level members into the configured variables, which they override", async () => {
    const { data } = (await post('/review', '{"review":{"stars":5}}')).json();
    deepEqual(data.review, { ep: 'JEDI', stars: 5, commentary: null });
    deepEqual(JSON.parse(String(last().body)).variables, { ep: 'JEDI', review: { stars: 5 } });
  });

  for (const [what, payload] of [
    ['an absent body', undefined],
    ['an empty body', ''],
    ['a white space body', ' \n'],
  ] as const) {
    it(`uses only the configured variables for ${what}`, async () => {
      const { data } = (await post('/review', payload)).json();
      deepEqual(data.review, { ep: 'JEDI', stars: 3, commentary: 'meh' });
    });
  }

  it("returns the server's errors as data", async () => {
    const { statusCode, body } = await gateway.inject('/broken');
    const { data, errors } = JSON.parse(body);
    deepEqual([statusCode, data, errors[0].message], [200, null, 'no']);
  });

  it("drops the server's errors if target selects the data", async () => {
    deepEqual((await gateway.inject('/unwrapped/JEDI')).json().hero.episode, 'JEDI');
    const { statusCode, body } = await gateway.inject('/hidden');
    equal(statusCode, 200);
    equal(body.includes('errors'), false);
  });

  for (const [what, payload] of [
    ['a list', '[1,2]'],
    ['a string', '"a"'],
    ['null', 'null'],
    ['invalid JSON', '{"a":'],
    ['nested too deeply', `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`],
  ] as const) {
    it(`responds with 400 without calling the backend if the body is ${what}`, async () => {
      const before = server.requests.length;
      equal((await post('/review', payload)).statusCode, 400);
      equal(server.requests.length, before);
    });
  }

  it('sends one body to several backends', async () => {
    const { g1, g2 } = (await post('/both', '{"review":{"stars":4}}')).json();
    deepEqual([g1.data.review.stars, g2.data.review.stars], [4, 4]);
  });

  it('reads its document from a file, and reloads it after a change', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-graphql-'));
    const path = join(folder, 'hero.graphql');
    writeFileSync(path, '{ hero { name } }');
    const config = {
      version: 3,
      host: [server.url],
      endpoints: [
        {
          endpoint: '/a',
          backend: [
            { url_pattern: '/graphql', extra_config: { 'backend/graphql': { type: 'query', query_path: path } } },
          ],
        },
      ],
    };
    const reading = await startGateway(config);
    deepEqual((await reading.inject('/a')).json().data, { hero: { name: 'R2-D2' } });
    writeFileSync(path, '{ hero { friends } }');
    await reading.reload(config as never);
    deepEqual((await reading.inject('/a')).json().data, { hero: { friends: null } });
    await reading.close();
    rmSync(folder, { recursive: true });
  });
});
