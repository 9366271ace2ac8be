import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { brotliCompressSync, gunzipSync, gzipSync } from 'node:zlib';
import type { Operations } from '#kernel';
import { openHarness } from '../../../kernel/testing/index.ts';
import { plugin } from '../../../plugins/validation/response-json-schema.ts';
import { rememberingSinks, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';

/** Bodies that backends always compress. */
const compressed: readonly (readonly [path: string, coding: string, bytes: Buffer])[] = [
  ['/gzip', 'gzip', gzipSync('{"id":1}')],
  ['/gzip-x', 'gzip', gzipSync('{"x":1}')],
  ['/gzip-none', 'gzip', Buffer.from('{"id":1}')],
  ['/br', 'br', brotliCompressSync('{"id":1}')],
];

const needsId = { type: 'object', required: ['id'] };

async function faultsOf(config: object, endpoint: object = {}): Promise<string[]> {
  try {
    await (await openHarness(plugin, 'endpoint', config, { endpoint })).close();
    return [];
  } catch (error) {
    return (error as { errors: { code: string; pointer: string }[] }).errors.map(
      ({ code, pointer }) => `${code} ${pointer.replace(/^.*response-json-schema/, '')}`,
    );
  }
}

describe('validation/response-json-schema', () => {
  let backend: TestBackend;
  let gateway: Operations;

  before(async () => {
    const bodies: Readonly<Record<string, string>> = {
      '/id': '{"id":1}',
      '/x': '{"x":1}',
      '/empty': '{}',
      '/list': '[{"id":1},{"id":"a"}]',
      '/html': '<p>',
      '/long': '{"id":1.0000000000000000001}',
    };
    backend = await startBackend(({ target }, response) => {
      const [, coding, bytes] = compressed.find(([path]) => path === target) ?? [];
      if (coding) response.writeHead(200, { 'Content-Encoding': coding }).end(bytes);
      else if (target === '/down') response.writeHead(500).end();
      else response.writeHead(200, { 'Content-Type': 'application/json' }).end(bodies[target]);
    });
  });
  after(() => backend.close());
  afterEach(() => gateway?.close());

  const start = async (endpoints: object[], options = {}) => {
    gateway = await startGateway({ host: [backend.url], endpoints }, options);
  };
  const to = (path: string, config: object, more: object = {}) => ({
    endpoint: `/e${path}`,
    backend: [{ url_pattern: path }],
    extra_config: { 'validation/response-json-schema': config },
    ...more,
  });
  const ask = async (url: string) => {
    const { statusCode, body, headers } = await gateway.inject(url);
    return { status: statusCode, body, type: headers['content-type'], completed: headers['x-gateway-completed'] };
  };
  const violated = { status: 500, body: '- (root): id is required', type: 'text/plain', completed: 'false' };

  it('accepts data that matches the schema', async () => {
    await start([to('/id', { schema: needsId })]);
    const { status, body } = await ask('/e/id');
    deepEqual([status, body], [200, '{"id":1}']);
  });

  it('returns a line for each violation, regardless of return_error_msg', async () => {
    const sinks = rememberingSinks();
    await start([to('/x', { schema: needsId })], { sinks });
    deepEqual(await ask('/e/x'), violated);
    ok(
      sinks.lines.some(
        (line) =>
          line.includes('ERROR') && line.includes('[ENDPOINT: /e/x][ResponseJSONSchema] - (root): id is required'),
      ),
    );
  });

  it('returns the configured body and status', async () => {
    await start([to('/empty', { schema: needsId, error: { status: 502, body: 'bad upstream' } })]);
    deepEqual(await ask('/e/empty'), { ...violated, status: 502, body: 'bad upstream' });
  });

  it('sets the configured content type', async () => {
    const error = { status: 422, body: '{"e":1}', content_type: 'application/json' };
    await start([to('/x', { schema: needsId, error })]);
    deepEqual(await ask('/e/x'), { ...violated, status: 422, body: '{"e":1}', type: 'application/json' });
  });

  const section = (url_pattern: string, more: object = {}) => ({
    url_pattern,
    extra_config: { 'validation/response-json-schema': { schema: needsId, error: { status: 418 } } },
    ...more,
  });

  it('fails one of several backends', async () => {
    await start([{ endpoint: '/two', backend: [{ url_pattern: '/id' }, section('/x')] }]);
    deepEqual(await ask('/two').then(({ status, body, completed }) => [status, body, completed]), [
      200,
      '{"id":1}',
      'false',
    ]);
  });

  it('returns the status and body of the only backend', async () => {
    await start([{ endpoint: '/one', backend: [section('/x')] }]);
    deepEqual(await ask('/one'), { ...violated, status: 418 });
  });

  it('validates the group of a backend', async () => {
    const schema = { type: 'object', required: ['g'] };
    const extra_config = { 'validation/response-json-schema': { schema } };
    await start([{ endpoint: '/a', backend: [{ url_pattern: '/id', group: 'g', extra_config }] }]);
    equal((await ask('/a')).status, 200);
  });

  it('returns the violations if the configured body is empty', async () => {
    await start([to('/x', { schema: needsId, error: { status: 401, body: '' } })]);
    deepEqual(await ask('/e/x'), { ...violated, status: 401 });
  });

  it('parses no-op responses, which must be JSON', async () => {
    const raw = { output_encoding: 'no-op' };
    await start(['/html', '/x', '/id'].map((path) => to(path, { schema: needsId }, raw)));
    const html = await ask('/e/html');
    deepEqual([html.status, html.type], [500, 'text/plain']);
    match(html.body, /^- \(root\): .*JSON/);
    equal((await ask('/e/x')).body, '- (root): id is required');
    deepEqual(await ask('/e/id').then(({ status, body }) => [status, body]), [200, '{"id":1}']);
  });

  it('validates no-op and compressed bodies without changing them', async () => {
    const raw = { output_encoding: 'no-op', input_headers: ['Accept-Encoding'] };
    await start(['/gzip', '/gzip-x', '/gzip-none', '/br'].map((path) => to(path, { schema: needsId }, raw)));
    const requested = (url: string) => gateway.inject({ url, headers: { 'accept-encoding': 'gzip, br' } });
    const { statusCode, rawPayload, headers } = await requested('/e/gzip');
    deepEqual([statusCode, headers['content-encoding'], gunzipSync(rawPayload).toString()], [200, 'gzip', '{"id":1}']);
    equal((await requested('/e/gzip-x')).body, '- (root): id is required');
    equal((await requested('/e/gzip-none')).statusCode, 500);
    deepEqual(await requested('/e/br').then(({ statusCode: status, body }) => [status, body]), [
      500,
      '- (root): the response is compressed with br, which cannot be read',
    ]);
  });

  it('validates a collection under its key, or as a list with json-collection', async () => {
    const backends = [{ url_pattern: '/list', is_collection: true }];
    const list = { type: 'array', minItems: 2, items: needsId };
    const whole = { type: 'object', required: ['collection'], properties: { collection: list } };
    await start([
      to('/a', { schema: whole }, { backend: backends }),
      to('/b', { schema: list }, { backend: backends, output_encoding: 'json-collection' }),
      to('/c', { schema: list }, { backend: backends }),
    ]);
    deepEqual([(await ask('/e/a')).status, (await ask('/e/b')).status, (await ask('/e/c')).status], [200, 200, 500]);
  });

  it('validates incomplete data, and keeps the errors of failed calls', async () => {
    await start([
      to(
        '/partial',
        { schema: needsId },
        {
          backend: [
            { url_pattern: '/id', group: 'g' },
            { url_pattern: '/down', group: 'h' },
          ],
        },
      ),
      to('/down', { schema: needsId, error: { status: 418 } }),
    ]);
    deepEqual([(await ask('/e/partial')).status, (await ask('/e/down')).status], [500, 500]);
    equal((await ask('/e/down')).body, '');
  });

  it('runs after components that change the data, and before conditions', async () => {
    const schema = { type: 'object', required: ['made'], properties: { collection: false } };
    await start([
      to(
        '/x',
        { schema },
        {
          extra_config: {
            'validation/response-json-schema': { schema },
            'validation/cel': [{ check_expr: "resp_data.made == 'later'", error: { status: 403 } }],
            proxy: { static: { strategy: 'always', data: { made: 'here' } } },
          },
        },
      ),
    ]);
    equal((await ask('/e/x')).status, 403);
  });

  it('validates exact numbers', async () => {
    await start([to('/long', { schema: { type: 'object', properties: { id: { type: 'integer' } } } })]);
    equal((await ask('/e/long')).status, 500);
  });

  it('rejects data that is nested too deeply, or too long for a pattern, without blocking the event loop', async () => {
    const gate = await openHarness(
      plugin,
      'endpoint',
      {
        schema: { $ref: '#/definitions/a', definitions: { a: { additionalProperties: { $ref: '#/definitions/a' } } } },
      },
      { next: () => ({ ...deep() }) as never },
    );
    const { status } = await gate.send('GET /');
    equal(status, 500);
    await gate.close();
  });

  it('is rejected with the location of an invalid schema', async () => {
    deepEqual(await faultsOf({ schema: { type: 'nonsense' } }), ['JSON_SCHEMA_INVALID /schema/type']);
    deepEqual(await faultsOf({ schema: { pattern: '(' } }), ['PATTERN_INVALID /schema/pattern']);
    equal((await faultsOf({})).length, 1);
    equal((await faultsOf({ schema: {}, error: { status: '500' } })).length, 1);
    equal((await faultsOf({ schema: {}, more: 1 })).length, 1);
  });

  const old = (settings: object, more: object = {}) => ({
    'plugin/req-resp-modifier': { name: ['response-schema-validator'], 'response-schema-validator': settings },
    ...more,
  });

  it('replaces the modifier response-schema-validator', async () => {
    await start([
      {
        endpoint: '/e',
        backend: [{ url_pattern: '/x' }],
        extra_config: old({ schema: needsId, error: { status: 502 } }),
      },
      { endpoint: '/b', backend: [{ url_pattern: '/x', extra_config: old({ schema: needsId }) }] },
    ]);
    deepEqual([await ask('/e'), await ask('/b')], [{ ...violated, status: 502 }, violated]);
  });

  it('cannot be combined with the modifier response-schema-validator', async () => {
    const extra_config = old({ schema: needsId }, { 'validation/response-json-schema': { schema: needsId } });
    for (const each of [extra_config, { 'plugin/req-resp-modifier': { name: ['response-schema-validator'] } }]) {
      const refused = await startGateway({
        host: [backend.url],
        endpoints: [{ endpoint: '/e', backend: [{ url_pattern: '/x' }], extra_config: each }],
      }).then(
        (running) => running.close().then(() => false),
        () => true,
      );
      equal(refused, true);
    }
  });
});

function deep() {
  let data: object = {};
  for (let level = 0; level < 100_000; level++) data = { a: data };
  return { status: 200, data, errors: [], failed: false, skipped: false, complete: true, body: null };
}
