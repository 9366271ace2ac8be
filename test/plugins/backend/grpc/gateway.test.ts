import { deepEqual, equal, match } from 'node:assert/strict';
import type { Operations } from '#kernel';
import { rememberingSinks, startGateway } from '../../../support/gateway.ts';
import {
  failure,
  type Methods,
  OLD,
  SHOP,
  startGrpc,
  status,
  type TestGrpcServer,
} from '../../../support/grpc/server.ts';

describe('backend/grpc in a gateway', () => {
  let gateway: Operations | undefined;
  let server: TestGrpcServer;
  const sinks = rememberingSinks();
  let methods: Methods;

  beforeEach(async () => {
    sinks.lines.length = 0;
    methods = {
      Find: (_call, answer) => answer(null, { id: 'x' }),
      Echo: (call, answer) => answer(null, call.request),
    };
    server = await startGrpc({
      Find: (...given) => methods.Find!(...given),
      Echo: (...given) => methods.Echo!(...given),
      Get: (...given) => methods.Get!(...given),
      Watch: (...given) => methods.Watch!(...given),
    });
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    await server.close();
  });

  const config = (grpc: object, more: { endpoint?: object; backend?: object; root?: object } = {}) => ({
    extra_config: { grpc: { catalog: [SHOP, OLD] } },
    ...more.root,
    endpoints: [
      {
        endpoint: '/f/{name}',
        input_query_strings: ['*'],
        ...more.endpoint,
        backend: [
          {
            host: [server.host],
            url_pattern: '/shop.Shop/Find',
            ...more.backend,
            extra_config: { 'backend/grpc': grpc, ...(more.backend as { extra_config?: object })?.extra_config },
          },
        ],
      },
    ],
  });
  const start = async (...given: Parameters<typeof config>) => {
    gateway = await startGateway(config(...given), { sinks });
  };
  const ask = (url = '/f/bob', options: object = {}) => gateway!.inject({ url, ...options });
  const seen = () => server.calls.at(-1)!;

  it('case 1: fills fields of a message within from query strings', async () => {
    await start({ input_mapping: { lat: 'where.latitude', lon: 'where.longitude' } }, { endpoint: { endpoint: '/f' } });
    equal((await ask('/f?lat=1.5&lon=2')).statusCode, 200);
    deepEqual(seen().request, { where: { latitude: 1.5, longitude: 2 } });
  });

  it('case 2: fills a field from a variable of the path', async () => {
    await start({ input_mapping: { Name: 'name' } });
    await ask('/f/bob');
    deepEqual(seen().request, { name: 'bob' });
  });

  it('sets a field of that name, in any case of its first letter, if no mapping is configured', async () => {
    await start({}, { endpoint: { endpoint: '/f/{name}' } });
    await ask('/f/eve?where.latitude=3&unknown=1&Kinds=1');
    deepEqual(seen().request, { name: 'eve', where: { latitude: 3 } });
  });

  it('case 3: fills a list from all values of a query string, by name or number, in order', async () => {
    await start({}, { endpoint: { endpoint: '/f' } });
    await ask('/f?kinds=BIG&kinds=2&name=a&name=b');
    deepEqual(seen().request, { name: 'a', kinds: ['BIG', 'HUGE'].map((kind) => ({ BIG: 1, HUGE: 2 })[kind]) });
  });

  it('sees only the query strings that are let through', async () => {
    await start({}, { endpoint: { endpoint: '/f', input_query_strings: ['other'] } });
    await ask('/f?name=a');
    deepEqual(seen().request, {});
  });

  it('sends an empty message where neither body nor parameters are used', async () => {
    await start({ disable_query_params: true });
    await ask('/f/bob?name=a');
    deepEqual(seen().request, {});
  });

  const moment = { seconds: '1704164645', nanos: 0 };
  it('case 4: gives every field, times as seconds', async () => {
    methods.Find = (_call, answer) => answer(null, { id: 'x', at: moment, kind: 1 });
    await start({});
    deepEqual((await ask()).json(), { id: 'x', kind: 1, at: { seconds: 1704164645, nanos: 0 }, n: 0, note: '' });
  });

  it('case 4: gives what is set, times and enums as texts', async () => {
    methods.Find = (_call, answer) => answer(null, { id: 'x', at: moment, kind: 1 });
    await start({
      output_enum_as_string: true,
      output_timestamp_as_string: true,
      output_duration_as_string: true,
      output_remove_unset_values: true,
    });
    deepEqual((await ask()).json(), { id: 'x', kind: 'BIG', at: '2024-01-02T03:04:05Z' });
  });

  it('case 5: gives fields in camelCase, and takes them so', async () => {
    await start(
      {
        request_naming_convention: 'camelCase',
        response_naming_convention: 'camelCase',
        use_request_body: true,
        output_remove_unset_values: true,
      },
      { endpoint: { endpoint: '/e', method: 'POST' }, backend: { url_pattern: '/shop.Shop/Echo' } },
    );
    const payload = JSON.stringify({ fullName: 'a', full_name: 'b' });
    deepEqual((await ask('/e', { method: 'POST', payload })).json(), { fullName: 'a' });
  });

  it('case 6: a failed status is 500 for the client and named in the log', async () => {
    methods.Find = (_call, answer) => answer(failure(status.NOT_FOUND, 'no such thing'));
    await start({});
    equal((await ask()).statusCode, 500);
    match(sinks.lines.join(''), /WARNING.*NOT_FOUND: no such thing/);
  });

  it('case 6: a failed status next to a successful backend makes an incomplete response', async () => {
    methods.Find = (_call, answer) => answer(failure(status.NOT_FOUND, 'no such thing'));
    const both = config({});
    const [endpoint] = both.endpoints as unknown as [{ backend: object[] }];
    endpoint.backend.push({
      host: [server.host],
      url_pattern: '/shop.Shop/Echo',
      extra_config: { 'backend/grpc': { input_mapping: { Name: 'full_name' }, output_remove_unset_values: true } },
    });
    gateway = await startGateway(both);
    const { statusCode, headers, body } = await ask();
    deepEqual([statusCode, headers['x-gateway-completed'], body], [200, 'false', '{"full_name":"bob"}']);
  });

  for (const [code, expected] of [
    [status.INVALID_ARGUMENT, 400],
    [status.FAILED_PRECONDITION, 400],
    [status.OUT_OF_RANGE, 400],
    [status.UNAUTHENTICATED, 401],
    [status.PERMISSION_DENIED, 403],
    [status.NOT_FOUND, 404],
    [status.ALREADY_EXISTS, 409],
    [status.ABORTED, 409],
    [status.RESOURCE_EXHAUSTED, 429],
    [status.CANCELLED, 499],
    [status.UNIMPLEMENTED, 501],
    [status.UNAVAILABLE, 503],
    [status.DEADLINE_EXCEEDED, 504],
    [status.DATA_LOSS, 500],
  ] as const) {
    it(`status ${code} is ${expected} if the client receives the code`, async () => {
      methods.Find = (_call, answer) => answer(failure(code, 'why'));
      await start({}, { backend: { extra_config: { 'backend/http': { return_error_code: true } } } });
      equal((await ask()).statusCode, expected);
    });
  }

  it('a failed status is data if details are enabled', async () => {
    methods.Find = (_call, answer) => answer(failure(status.ABORTED, 'ünfit'));
    await start({}, { backend: { extra_config: { 'backend/http': { return_error_details: 'shop' } } } });
    deepEqual((await ask()).json(), {
      error_shop: {
        http_status_code: 409,
        http_body: '{"code":10,"status":"ABORTED","message":"ünfit"}',
        http_body_encoding: 'application/json',
      },
    });
  });

  it('case 7: sends headers as metadata, renamed, and those of gRPC under another name', async () => {
    await start(
      { header_mapping: { 'X-Tenant': 'customerid' } },
      { endpoint: { input_headers: ['X-Tenant', 'Grpc-Foo', 'X-Raw-Bin', 'Content-Type', '__proto__'] } },
    );
    const raw = Buffer.from('\u0000\u0001').toString('base64');
    const headers = {
      'X-Tenant': 'a',
      'Grpc-Foo': 'b',
      'X-Raw-Bin': raw,
      'X-Other': 'c',
      'Content-Type': 'text/x',
      ['__proto__']: 'd',
    };
    equal((await ask('/f/bob', { headers })).statusCode, 200);
    const { metadata } = seen();
    deepEqual(
      [metadata['customerid'], metadata['in-grpc-foo'], metadata['x-other'], metadata['x-tenant']],
      ['a', 'b', undefined, undefined],
    );
    deepEqual(metadata['x-raw-bin'], Buffer.from('\u0000\u0001'));
    match(String(metadata['user-agent']), /^Sluice/);
  });

  it('case 8: accepts a text for bytes as it is only if configured', async () => {
    await start({ input_assume_bytes: true }, { endpoint: { endpoint: '/f' } });
    await ask('/f?raw=hello!');
    deepEqual(seen().request, { raw: Buffer.from('hello!') });
    await ask('/f?raw=aGk=');
    deepEqual(seen().request, { raw: Buffer.from('hi') });
    await gateway!.close();
    await start({}, { endpoint: { endpoint: '/f' } });
    equal((await ask('/f?raw=hello!')).statusCode, 400);
    equal((await ask('/f?raw=aGk')).statusCode, 200);
  });

  it('case 9: rejects a value that its field cannot have, without a call', async () => {
    await start({ input_mapping: { lat: 'where.latitude' } }, { endpoint: { endpoint: '/f' } });
    equal((await ask('/f?lat=abc')).statusCode, 400);
    equal(server.calls.length, 0);
  });

  it('lets parameters overwrite fields of the body', async () => {
    await start({ use_request_body: true }, { endpoint: { method: 'POST' } });
    const payload = '{"name":"body","kinds":["BIG",2],"where":{"latitude":1},"nobody":{"knows":1}}';
    equal((await ask('/f/path?where.longitude=4&kinds=0', { method: 'POST', payload })).statusCode, 200);
    deepEqual(seen().request, { name: 'path', kinds: [0], where: { latitude: 1, longitude: 4 } });
  });

  for (const [what, payload] of [
    ['no JSON', '{"name"'],
    ['no object', '[1]'],
    ['a field of another type', '{"name":1}'],
    ['an unknown enum', '{"kinds":["TINY"]}'],
    ['a list for a message', '{"where":[1]}'],
  ] as const) {
    it(`refuses a body with ${what}`, async () => {
      await start({ use_request_body: true }, { endpoint: { method: 'POST', endpoint: '/f' } });
      equal((await ask('/f', { method: 'POST', payload })).statusCode, 400);
      equal(server.calls.length, 0);
    });
  }

  it('gives several backends the same body', async () => {
    const both = config({ use_request_body: true }, { endpoint: { method: 'POST', endpoint: '/f' } });
    const [{ backend }] = both.endpoints as unknown as [{ backend: object[] }];
    backend.push({ ...backend[0], group: 'again' });
    gateway = await startGateway(both);
    equal((await ask('/f', { method: 'POST', payload: '{"name":"a"}' })).statusCode, 200);
    deepEqual(
      server.calls.map(({ request }) => request),
      [{ name: 'a' }, { name: 'a' }],
    );
  });

  it('shapes the reply as any other', async () => {
    methods.Find = (_call, answer) => answer(null, { id: 'x', n: '9007199254740993' });
    await start({}, { backend: { allow: ['n'], mapping: { n: 'number' }, group: 'shop' } });
    equal((await ask()).body, '{"shop":{"number":"9007199254740993"}}');
  });

  it('sends the rest of the timeout as deadline, and tells the server when it is over', async () => {
    let cancelled: () => void;
    const told = new Promise<void>((resolve) => {
      cancelled = resolve;
    });
    methods.Find = (call) => call.on('cancelled', () => cancelled());
    await start({}, { endpoint: { timeout: '3s' } });
    equal((await ask()).statusCode, 500);
    equal(seen().remainingMs > 0 && seen().remainingMs <= 3000, true);
    await told;
  });

  it('keeps its connection over a reload', async () => {
    await start({});
    const peers = new Set<string>();
    methods.Find = (call, answer) => {
      peers.add(call.getPeer());
      answer(null, {});
    };
    await ask();
    await gateway!.reload({ version: 3, ...config({ output_remove_unset_values: true }) });
    equal((await ask()).body, '{}');
    equal(peers.size, 1);
  });

  describe('streams', () => {
    beforeEach(() => {
      methods.Watch = (call) => {
        for (const id of ['a', 'b', '__proto__']) call.write({ id });
        call.end();
      };
    });
    const watch = (output: string, more: object = {}) =>
      start(
        { output_remove_unset_values: true },
        { endpoint: { output_encoding: output }, backend: { url_pattern: '/shop.Shop/Watch', ...more } },
      );

    it('become lines of ndjson', async () => {
      await watch('ndjson');
      const { body, headers } = await ask();
      deepEqual(
        [body, headers['content-type']],
        ['{"id":"a"}\n{"id":"b"}\n{"id":"__proto__"}\n', 'application/x-ndjson'],
      );
    });

    it('become events, each shaped', async () => {
      await watch('sse', { mapping: { id: 'name' } });
      const { body, headers } = await ask();
      deepEqual(
        [body, headers['content-type']],
        ['data: {"name":"a"}\n\ndata: {"name":"b"}\n\ndata: {"name":"__proto__"}\n\n', 'text/event-stream'],
      );
    });

    it('become a list under collection, or alone', async () => {
      await watch('json');
      equal((await ask()).body, '{"collection":[{"id":"a"},{"id":"b"},{"id":"__proto__"}]}');
      await gateway!.close();
      await watch('json-collection');
      equal((await ask()).body, '[{"id":"a"},{"id":"b"},{"id":"__proto__"}]');
    });

    it('that are empty are an empty body', async () => {
      methods.Watch = (call) => call.end();
      await watch('ndjson');
      const { statusCode, body } = await ask();
      deepEqual([statusCode, body], [200, '']);
    });

    it('that fail at once are a failed backend', async () => {
      methods.Watch = (call) => call.emit('error', failure(status.PERMISSION_DENIED, 'no'));
      await watch('ndjson');
      equal((await ask()).statusCode, 500);
    });

    it('end for the server when the client leaves', async () => {
      let left: () => void;
      const isLeft = new Promise<void>((resolve) => {
        left = resolve;
      });
      methods.Watch = (call) => {
        call.write({ id: 'first' });
        call.on('cancelled', () => left());
      };
      gateway = await startGateway(
        config(
          {},
          { endpoint: { output_encoding: 'ndjson', timeout: '30s' }, backend: { url_pattern: '/shop.Shop/Watch' } },
        ),
      );
      const { port } = await gateway.listen();
      const leaving = new AbortController();
      const response = await fetch(`http://127.0.0.1:${port}/f/x`, { signal: leaving.signal });
      const { value } = await response.body!.getReader().read();
      match(Buffer.from(value!).toString(), /first/);
      leaving.abort();
      await isLeft;
    });
  });
});
