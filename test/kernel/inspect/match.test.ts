import { deepEqual, equal } from 'node:assert/strict';
import { type Matching, matchRoute, type Served } from '../../../kernel/inspect/index.ts';
import type { Gateway } from '../../../kernel/sluice.ts';
import { startGateway } from '../../support/gateway.ts';
import { ask } from '../server/ask.ts';
import { serve } from './serve.ts';

const backend = [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }];
const published = ['GET /user/{id}', 'GET /user/new', 'POST /user/{id}', 'GET /f/*', 'GET /f/{a}/b'];
const endpoints = published.map((route) => {
  const [method, endpoint] = route.split(' ');
  return { method, endpoint, backend };
});
const ids = (list: Matching['rivals']) => list.map(({ route }) => route.id);

describe('matchRoute', () => {
  let served: Served;
  const match = (line: string): Promise<Matching> => {
    const [method, target] = line.split(' ') as [string, string];
    return matchRoute(served, method, target);
  };

  before(async () => {
    served = await serve({ endpoints });
  });

  it('returns the endpoint, its place and the path variables', async () => {
    const { match: result } = await match('GET /user/7?a=1');
    deepEqual(result.kind === 'route' && [result.route.id, result.route.pointer, result.params], [
      'GET /user/{id}',
      '/endpoints/0',
      { id: '7' },
    ]);
  });

  it('returns the part of the path that a wildcard matched, under the key *', async () => {
    const { match: result } = await match('GET /f/x/y');
    deepEqual(result.kind === 'route' && result.params, { '*': 'x/y' });
  });

  it('lists endpoints that lost to an endpoint with fixed text in the path, with the reason', async () => {
    const { rivals } = await match('GET /user/new');
    deepEqual(ids(rivals), ['GET /user/{id}', 'POST /user/{id}']);
    equal(rivals[0]!.why, 'its placeholder {id} is less specific than the fixed segment new');
    equal(rivals[1]!.why, 'matches the path, but serves POST');
  });

  it('lists an endpoint that lost to an endpoint with more fixed text in a segment, with the reason', async () => {
    const words = ['/{a}', '/{b}.json'].map((endpoint) => ({ endpoint, backend }));
    const { match, rivals } = await matchRoute(await serve({ endpoints: words, disable_rest: true }), 'GET', '/x.json');
    equal(match.kind === 'route' && match.route.id, 'GET /{b}.json');
    equal(rivals[0]!.why, '{a} is less specific than {b}.json');
  });

  it('lists an endpoint with the method ANY that lost to one with the method of the request, with the reason', async () => {
    const every = ['GET /a/{id}', 'ANY /a/{name}'].map((route) => {
      const [method, endpoint] = route.split(' ');
      return { method, endpoint, backend };
    });
    const declared = await serve({ endpoints: every });
    const { match: got, rivals } = await matchRoute(declared, 'GET', '/a/7');
    equal(got.kind === 'route' && got.route.id, 'GET /a/{id}');
    deepEqual(
      rivals.map(({ route, why }) => [route.id, why]),
      [['ANY /a/{name}', 'serves the methods without an endpoint of their own on the path']],
    );
    const { match: put } = await matchRoute(declared, 'PUT', '/a/7');
    deepEqual(put.kind === 'route' && [put.route.id, put.params], ['ANY /a/{name}', { name: '7' }]);
  });

  it('lists a wildcard endpoint that lost to an endpoint with a variable, with the reason', async () => {
    const { match: result, rivals } = await match('GET /f/x/b');
    equal(result.kind === 'route' && result.route.id, 'GET /f/{a}/b');
    deepEqual(ids(rivals), ['GET /f/*']);
    equal(rivals[0]!.why, 'its wildcard is less specific than GET /f/{a}/b');
  });

  it('lists endpoints with other methods if the method is wrong', async () => {
    const { match: result, rivals } = await match('DELETE /user/7');
    deepEqual(result, { kind: 'method', status: 405, allow: ['GET', 'HEAD', 'POST'] });
    deepEqual(ids(rivals), ['GET /user/{id}', 'POST /user/{id}']);
  });

  it('suggests a similar endpoint if none matches', async () => {
    const { match: result, nearMisses } = await match('GET /usr/7');
    equal(result.kind, 'none');
    equal(nearMisses[0]!.route.id, 'GET /user/{id}');
    equal(nearMisses[0]!.why, 'segment 1 is "user", not "usr"');
  });

  it('suggests the endpoint for the rest of the path if the request has an unknown prefix', async () => {
    const { nearMisses } = await match('GET /v1/user/7');
    equal(nearMisses[0]!.route.id, 'GET /user/{id}');
    equal(nearMisses[0]!.why, 'the pattern has 2 segments, the path has 3');
  });

  it('suggests nothing if no endpoint is similar', async () => {
    for (const path of ['/some/other/thing', '/nope/7']) deepEqual((await match(`GET ${path}`)).nearMisses, []);
  });

  it('describes the catch-all as the endpoint for all other requests', async () => {
    const all = await serve({ endpoints: [...endpoints, { endpoint: '/__catchall', backend }] });
    const { rivals } = await matchRoute(all, 'GET', '/user/7');
    deepEqual(ids(rivals), ['GET /__catchall', 'POST /user/{id}']);
    equal(rivals[0]!.why, 'serves only requests that no other endpoint matches');
    const other = await matchRoute(all, 'PATCH', '/zzz');
    equal(other.match.kind === 'route' && other.match.route.pattern, '/__catchall');
  });

  it('returns data that can be written as JSON', async () => {
    const matching = await match('GET /user/new');
    deepEqual(JSON.parse(JSON.stringify(matching)), matching);
  });

  describe('agrees with a gateway', () => {
    let gateway: Gateway;
    let port: number;
    const router = { auto_options: true };
    const config = { debug_endpoint: true, endpoints, extra_config: { router } };

    before(async () => {
      served = await serve(config);
      gateway = await startGateway(config);
      ({ port } = await gateway.listen());
    });
    after(() => gateway.close());

    for (const [line, kind] of [
      ['GET /user/7/', 'redirect'],
      ['POST /user/7/?q=1', 'redirect'],
      ['GET /USER/7', 'redirect'],
      ['GET /f', 'redirect'],
      ['GET /__health/', 'redirect'],
      ['DELETE /user/7', 'method'],
      ['POST /__health', 'method'],
      ['OPTIONS /user/7', 'options'],
      ['GET /user/a%252Fb', 'refused'],
      ['GET /user/%zz', 'refused'],
      ['GET /user/7/x', 'none'],
      ['GET /', 'none'],
      ['GET /__health', 'builtin'],
      ['GET /__ready', 'builtin'],
      ['GET /__debug/any', 'builtin'],
    ] as const) {
      it(`for ${line}`, async () => {
        const { match: result } = await match(line);
        equal(result.kind, kind);
        const { status, headers, text } = await ask(port, line);
        equal('status' in result ? result.status : 200, status);
        if (result.kind === 'redirect') equal(result.location, headers.location);
        if (result.kind === 'method' || result.kind === 'options') equal(result.allow.join(', '), headers.allow);
        if (result.kind === 'refused') equal(result.text, text);
      });
    }
  });
});
