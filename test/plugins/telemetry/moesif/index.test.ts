import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import type { Gateway } from '../../../../kernel/index.ts';
import { moesif } from '../../../../plugins/telemetry/moesif/index.ts';
import { until } from '../../../support/conditions.ts';
import { startBackend, type TestBackend } from '../../../support/gateway.ts';
import { startWith } from '../../../support/plugged.ts';
import { startCollector } from './collector.ts';

const token = (claims: object) =>
  `Bearer x.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${Buffer.from('sig').toString('base64url')}`;

describe('telemetry/moesif', () => {
  let backend: TestBackend;
  let collector: Awaited<ReturnType<typeof startCollector>>;
  let gateway: Gateway | undefined;

  before(async () => {
    backend = await startBackend(({ target }, response) => {
      if (target === '/plain') {
        response.writeHead(200, { 'Content-Type': 'text/plain' }).end('text');
      } else if (target === '/packed') {
        const headers = { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' };
        response.writeHead(200, headers).end(gzipSync('{"packed":{"card":"1"}}'));
      } else if (target === '/long') {
        response.writeHead(200, { 'Content-Type': 'text/plain' }).end('x'.repeat(300 * 1024));
      } else {
        response.writeHead(200, { 'Content-Type': 'application/json', 'X-Trace': 'secret' });
        response.end('{"a":{"card":"1"},"big":12345678901234567890}');
      }
    });
  });
  after(() => backend.close());
  beforeEach(async () => {
    collector = await startCollector();
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    await collector.close();
  });

  const start = async (config: object = {}) => {
    const noOp = (path: string) => ({
      endpoint: path,
      output_encoding: 'no-op',
      backend: [{ host: [backend.url], url_pattern: path }],
    });
    gateway = await startWith([moesif(collector.url)], {
      extra_config: {
        'telemetry/moesif': {
          application_id: 'app',
          user_id_headers: ['X-User', 'Authorization'],
          batch_size: 1,
          ...config,
        },
      },
      endpoints: [
        { endpoint: '/a', backend: [{ host: [backend.url], url_pattern: '/a' }] },
        { endpoint: '/a', method: 'POST', backend: [{ host: [backend.url], url_pattern: '/a' }] },
        {
          endpoint: '/messages',
          output_encoding: 'ndjson',
          backend: [{ host: [backend.url], url_pattern: '/a' }],
        },
        noOp('/plain'),
        noOp('/packed'),
        noOp('/long'),
      ],
    });
    return gateway;
  };
  const received = async (count = 1) => {
    await until(() => collector.events.length >= count);
    return collector.events;
  };

  it('reports requests and responses with headers and bodies, with the application ID', async () => {
    await start({ metadata: { region: 'eu' } });
    const { statusCode } = await gateway!.inject({
      url: '/a?q=1',
      method: 'POST',
      payload: { b: 2 },
      headers: { host: 'api.test', 'x-user': 'ada' },
    });
    const [event] = await received();
    equal(statusCode, 200);
    deepEqual([event!.direction, event!.user_id, event!.metadata], ['Incoming', 'ada', { krakend: { region: 'eu' } }]);
    const { time, headers, ...request } = event!.request;
    match(String(time), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    equal((headers as Record<string, string>)['x-user'], 'ada');
    deepEqual(request, {
      verb: 'POST',
      uri: 'http://api.test/a?q=1',
      ip_address: '127.0.0.1',
      body: { b: 2 },
      transfer_encoding: 'json',
    });
    const { status, body, headers: sent } = event!.response;
    deepEqual([status, (body as { a: object }).a], [200, { card: '1' }]);
    equal((sent as Record<string, string>)['X-Gateway-Completed'], 'true');
    const [push] = collector.pushes;
    deepEqual([push?.url, push?.headers['x-moesif-application-id']], ['/v1/events/batch', 'app']);
  });

  it('reports rejections and unknown paths', async () => {
    await start();
    await gateway!.inject('/nowhere');
    equal((await received())[0]!.response.status, 404);
  });

  it('reports bodies of other types in base64, and decompresses gzip', async () => {
    await start();
    equal((await gateway!.inject('/plain')).body, 'text');
    await received(1);
    await gateway!.inject('/packed');
    const [plain, packed] = await received(2);
    deepEqual(
      [plain!.response['body'], plain!.response['transfer_encoding']],
      [Buffer.from('text').toString('base64'), 'base64'],
    );
    deepEqual(packed!.response['body'], { packed: { card: '1' } });
  });

  it('omits long and streamed bodies', async () => {
    await start();
    equal((await gateway!.inject('/long')).body.length, 300 * 1024);
    await received(1);
    await gateway!.inject('/messages');
    const events = await received(2);
    deepEqual(
      events.map(({ response }) => 'body' in response),
      [false, false],
    );
  });

  it('omits all bodies if configured', async () => {
    await start({ log_body: false });
    await gateway!.inject({ url: '/a', method: 'POST', payload: { b: 2 } });
    const [event] = await received();
    ok(!('body' in event!.request) && !('body' in event!.response));
  });

  it('masks response fields at any depth', async () => {
    await start({ response_body_masks: ['card'] });
    await gateway!.inject('/a');
    const [event] = await received();
    deepEqual((event!.response['body'] as { a: object }).a, { card: '*****' });
  });

  it('masks headers in any letter case and request fields, and omits bodies that cannot be parsed', async () => {
    await start({
      request_header_masks: ['AUTHORIZATION'],
      request_body_masks: ['pin', '__proto__'],
      response_header_masks: ['x-gateway'],
      response_body_masks: ['card'],
    });
    const payload = '{"list":[{"pin":1,"__proto__":{"a":1}}]}';
    const headers = { 'content-type': 'application/json', authorization: 'Bearer abc' };
    await gateway!.inject({ url: '/a', method: 'POST', payload, headers });
    await received(1);
    await gateway!.inject('/plain');
    const [masked, plain] = await received(2);
    const sent = masked!.request['headers'] as Record<string, string>;
    equal(sent['authorization'], '*****');
    equal(JSON.stringify(masked!.request['body']), '{"list":[{"pin":"*****","__proto__":"*****"}]}');
    equal((masked!.response['headers'] as Record<string, string>)['X-Gateway'], '*****');
    ok(!('body' in plain!.response));
  });

  it('identifies no user if the header setting is empty', async () => {
    await start();
    await gateway!.inject({ url: '/a', headers: { 'x-user': '', authorization: token({ sub: 'ada' }) } });
    equal((await received())[0]!.user_id, undefined);
  });

  for (const [what, headers, config, user] of [
    ['the name in Basic credentials', { authorization: `Basic ${btoa('ada:pw')}` }, {}, 'ada'],
    ['the claim sub of a Bearer token', { authorization: token({ sub: 'ada' }) }, {}, 'ada'],
    ['a nested claim', { authorization: token({ u: { id: 'x' } }) }, { user_id_jwt_claim: 'u.id' }, 'x'],
    [
      'a claim with a dot in its name',
      { authorization: token({ 'u.id': 'y', u: { id: 'x' } }) },
      { user_id_jwt_claim: 'u.id' },
      'y',
    ],
    ['no claim other than a string', { authorization: token({ sub: 7 }) }, {}, undefined],
    [
      'no member of an object prototype',
      { authorization: token({}) },
      { user_id_jwt_claim: 'constructor.name' },
      undefined,
    ],
    ['nothing with another scheme', { authorization: 'Digest ada' }, {}, undefined],
    ['nothing from an invalid token', { authorization: 'Bearer a.%%%.c' }, {}, undefined],
  ] as const) {
    it(`uses ${what} as the user`, async () => {
      await start(config);
      await gateway!.inject({ url: '/a', headers });
      equal((await received())[0]!.user_id, user);
    });
  }

  for (const [what, request, identify_company] of [
    ['a header', { url: '/a', headers: { 'x-org': 'acme' } }, { header: 'X-Org' }],
    ['a claim', { url: '/a', headers: { authorization: token({ org: { id: 'acme' } }) } }, { jwt_claim: 'org.id' }],
    ['a query parameter', { url: '/a?org=acme' }, { query_string: 'org' }],
  ] as const) {
    it(`reads the company from ${what}`, async () => {
      await start({ identify_company });
      await gateway!.inject(request);
      equal((await received())[0]!.company_id, 'acme');
    });
  }

  it("omits requests that should_skip matches: req_method == 'GET'", async () => {
    await start({ should_skip: "req_method == 'GET'" });
    await gateway!.inject('/a');
    await gateway!.inject({ url: '/a', method: 'POST', payload: {} });
    deepEqual(
      (await received(1)).map(({ request }) => request.verb),
      ['POST'],
    );
  });

  it('reports waiting events when the gateway closes', async () => {
    await start({ batch_size: 100, timer_wake_up_seconds: 3600 });
    await gateway!.inject('/a');
    await gateway!.close();
    gateway = undefined;
    await received(1);
  });
});
