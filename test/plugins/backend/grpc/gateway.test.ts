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

  it('sets nested message fields from query parameters', async () => {
    await start({ input_mapping: { lat: 'where.latitude', lon: 'where.longitude' } }, { endpoint: { endpoint: '/f' } });
    equal((await ask('/f?lat=1.5&lon=2')).statusCode, 200);
    deepEqual(seen().request, { where: { latitude: 1.5, longitude: 2 } });
  });

  it('sets a field from a path parameter', async () => {
    await start({ input_mapping: { Name: 'name' } });
    await ask('/f/bob');
    deepEqual(seen().request, { name: 'bob' });
  });

  it('maps parameters to fields of the same name, in either case of the first letter, without input_mapping', async () => {
    await start({}, { endpoint: { endpoint: '/f/{name}' } });
    await ask('/f/eve?where.latitude=3&unknown=1&Kinds=1');
    deepEqual(seen().request, { name: 'eve', where: { latitude: 3 } });
  });

  it('sets a repeated field from all values of a query parameter, by name or number, in order', async () => {
    await start({}, { endpoint: { endpoint: '/f' } });
    await ask('/f?kinds=BIG&kinds=2&name=a&name=b');
    deepEqual(seen().request, { name: 'a', kinds: ['BIG', 'HUGE'].map((kind) => ({ BIG: 1, HUGE: 2 })[kind]) });
  });

  it('reads only forwarded query parameters', async () => {
    await start({}, { endpoint: { endpoint: '/f', input_query_strings: ['other'] } });
    await ask('/f?name=a');
    deepEqual(seen().request, {});
  });

  it('sends an empty message if neither the body nor parameters are used', async () => {
    await start({ disable_query_params: true });
    await ask('/f/bob?name=a');
    deepEqual(seen().request, {});
  });

  const moment = { seconds: '1704164645', nanos: 0 };
  it('returns every field, with timestamps as seconds and nanoseconds', async () => {
    methods.Find = (_call, answer) => answer(null, { id: 'x', at: moment, kind: 1 });
    await start({});
    deepEqual((await ask()).json(), { id: 'x', kind: 1, at: { seconds: 1704164645, nanos: 0 }, n: 0, note: '' });
  });

  it('returns only set fields, with timestamps and enums as strings, if configured', async () => {
    methods.Find = (_call, answer) => answer(null, { id: 'x', at: moment, kind: 1 });
    await start({
      output_enum_as_string: true,
      output_timestamp_as_string: true,
      output_duration_as_string: true,
      output_remove_unset_values: true,
    });
    deepEqual((await ask()).json(), { id: 'x', kind: 'BIG', at: '2024-01-02T03:04:05Z' });
  });

  it('returns and accepts fields in camelCase if configured', async () => {
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

  it('returns 500 for a failed call and logs the gRPC status', async () => {
    methods.Find = (_call, answer) => answer(failure(status.NOT_FOUND, 'no such thing'));
    await start({});
    equal((await ask()).statusCode, 500);
    match(sinks.lines.join(''), /WARNING.*NOT_FOUND: no such thing/);
  });

  it('returns a partial response if one of several backends fails', async () => {
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
    it(`maps the gRPC status ${code} to ${expected} with return_error_code`, async () => {
      methods.Find = (_call, answer) => answer(failure(code, 'why'));
      await start({}, { backend: { extra_config: { 'backend/http': { return_error_code: true } } } });
      equal((await ask()).statusCode, expected);
    });
  }

  it('returns a failed status as data with return_error_details', async () => {
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

  it('sends forwarded headers as metadata, renamed by header_mapping, with reserved names prefixed', async () => {
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

  it('accepts plain strings for fields of type bytes only with input_assume_bytes', async () => {
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

  it('rejects a value of the wrong type without calling the backend', async () => {
    await start({ input_mapping: { lat: 'where.latitude' } }, { endpoint: { endpoint: '/f' } });
    equal((await ask('/f?lat=abc')).statusCode, 400);
    equal(server.calls.length, 0);
  });

  it('overwrites fields of the body with parameters', async () => {
    await start({ use_request_body: true }, { endpoint: { method: 'POST' } });
    const payload = '{"name":"body","kinds":["BIG",2],"where":{"latitude":1},"nobody":{"knows":1}}';
    equal((await ask('/f/path?where.longitude=4&kinds=0', { method: 'POST', payload })).statusCode, 200);
    deepEqual(seen().request, { name: 'path', kinds: [0], where: { latitude: 1, longitude: 4 } });
  });

  for (const [what, payload] of [
    ['invalid JSON', '{"name"'],
    ['JSON that is not an object', '[1]'],
    ['a field of the wrong type', '{"name":1}'],
    ['an unknown enum', '{"kinds":["TINY"]}'],
    ['a list instead of a message', '{"where":[1]}'],
  ] as const) {
    it(`rejects a body with ${what}`, async () => {
      await start({ use_request_body: true }, { endpoint: { method: 'POST', endpoint: '/f' } });
      equal((await ask('/f', { method: 'POST', payload })).statusCode, 400);
      equal(server.calls.length, 0);
    });
  }

  it('sends the same body to several backends', async () => {
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

  it('applies response manipulation like other backends', async () => {
    methods.Find = (_call, answer) => answer(null, { id: 'x', n: '9007199254740993' });
    await start({}, { backend: { allow: ['n'], mapping: { n: 'number' }, group: 'shop' } });
    equal((await ask()).body, '{"shop":{"number":"9007199254740993"}}');
  });

  it('sends the remaining timeout as the gRPC deadline, and cancels the call when it expires', async () => {
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

  it('keeps its connection across a reload', async () => {
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

  describe('with server streaming', () => {
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

    it('returns one line for each message with ndjson', async () => {
      await watch('ndjson');
      const { body, headers } = await ask();
      deepEqual(
        [body, headers['content-type']],
        ['{"id":"a"}\n{"id":"b"}\n{"id":"__proto__"}\n', 'application/x-ndjson'],
      );
    });

    it('returns one event for each message with sse, after response manipulation', async () => {
      await watch('sse', { mapping: { id: 'name' } });
      const { body, headers } = await ask();
      deepEqual(
        [body, headers['content-type']],
        ['data: {"name":"a"}\n\ndata: {"name":"b"}\n\ndata: {"name":"__proto__"}\n\n', 'text/event-stream'],
      );
    });

    it('returns a list under "collection" with json, and a plain list with json-collection', async () => {
      await watch('json');
      equal((await ask()).body, '{"collection":[{"id":"a"},{"id":"b"},{"id":"__proto__"}]}');
      await gateway!.close();
      await watch('json-collection');
      equal((await ask()).body, '[{"id":"a"},{"id":"b"},{"id":"__proto__"}]');
    });

    it('returns an empty body for an empty stream', async () => {
      methods.Watch = (call) => call.end();
      await watch('ndjson');
      const { statusCode, body } = await ask();
      deepEqual([statusCode, body], [200, '']);
    });

    it('treats a stream that fails immediately as a failed backend', async () => {
      methods.Watch = (call) => call.emit('error', failure(status.PERMISSION_DENIED, 'no'));
      await watch('ndjson');
      equal((await ask()).statusCode, 500);
    });

    it('cancels the stream when the client disconnects', async () => {
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
