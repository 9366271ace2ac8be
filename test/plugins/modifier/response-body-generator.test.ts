import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { BackendError, HeaderBag, Reply, refuse } from '#contract';
import type { Gateway } from '#kernel';
import { plugin as alias } from '../../../plugins/modifier/response-body/index.ts';
import { plugin } from '../../../plugins/modifier/response-body-generator.ts';
import { rememberingSinks, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { openHarness } from '../../support/harness.ts';
import { encoded, faultsOf } from './generators.ts';

const namespace = 'modifier/response-body-generator';

describe(namespace, () => {
  let backend: TestBackend;
  let gateway: Gateway | undefined;
  let lines: readonly string[];

  before(async () => {
    backend = await startBackend(({ target }, response) => {
      const json = { 'Content-Type': 'application/json', ETag: '"1"' };
      if (target === '/missing') return void response.writeHead(404, json).end('{"e":1}');
      if (target === '/packed') {
        return void response.writeHead(200, { ...json, 'Content-Encoding': 'gzip' }).end(gzipSync('{"p":1}'));
      }
      if (target === '/xml') return void response.writeHead(200, { 'Content-Type': 'text/xml' }).end('<a>1</a>');
      if (target === '/none') return void response.writeHead(204).end();
      if (target === '/empty') return void response.writeHead(200, json).end('{}');
      response.writeHead(200, json).end('{"n":"A","x":1,"v":3}');
    });
  });
  after(() => backend.close());
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  const made = (template: string, fields: object = {}, name = namespace) => ({
    extra_config: { [name]: { template: encoded(template), ...fields } },
  });
  const raw = { output_encoding: 'no-op' };

  /** Response of an endpoint for `/a` or its own path. */
  const ask = async (endpoint: object, url = '/a') => {
    await gateway?.close();
    const sinks = rememberingSinks();
    lines = sinks.lines;
    gateway = await startGateway(
      {
        host: [backend.url],
        extra_config: { 'telemetry/logging': { level: 'DEBUG', stdout: true } },
        endpoints: [{ endpoint: '/a', backend: [{ url_pattern: '/b' }], ...endpoint }],
      },
      { sinks },
    );
    const { statusCode, headers, body } = await gateway.inject({ url, headers: { 'x-u': '1' } });
    return {
      status: statusCode,
      headers,
      body,
      type: headers['content-type'],
      completed: headers['x-gateway-completed'],
    };
  };

  it('generates other data', async () => {
    deepEqual(JSON.parse((await ask(made('{"name":{{ toJson .resp_body.n }}}'))).body), { name: 'A' });
  });

  const whole = '{"s":{{ .resp_status }},"b":{{ toJson .resp_body }}}';

  it('generates another body with the no-op encoding, and lets the template read the status', async () => {
    const { status, body, type, headers } = await ask({
      ...made(whole),
      ...raw,
      backend: [{ url_pattern: '/missing' }],
    });
    deepEqual(
      [status, body, type, headers['content-length'], headers['etag']],
      [404, '{"s":404,"b":{"e":1}}', 'application/json', '21', '"1"'],
    );
  });

  it('does not let the template read the status of decoded data', async () => {
    const template = `${whole.slice(0, -1)},"h":{{ len .resp_headers }},"t":{{ toJson .resp_body_str }}}`;
    const { body } = await ask({ ...made(template), backend: [{ url_pattern: '/b', allow: ['x'] }] });
    deepEqual(JSON.parse(body), { s: 0, b: { x: 1 }, h: 0, t: '' });
  });

  it('lets the template read the merged data of an endpoint', async () => {
    const { body } = await ask({
      ...made('{"sum":{{ add (int .resp_body.a.v) (int .resp_body.b.v) }}}'),
      backend: [
        { url_pattern: '/b', group: 'a' },
        { url_pattern: '/b', group: 'b' },
      ],
    });
    deepEqual(JSON.parse(body), { sum: 6 });
  });

  it('generates an array', async () => {
    deepEqual(JSON.parse((await ask({ ...made('[1,2]'), output_encoding: 'json-collection' })).body), [1, 2]);
    deepEqual(JSON.parse((await ask(made('[1,2]'))).body), { collection: [1, 2] });
  });

  it('generates any content type with no-op', async () => {
    const template = made('<p>{{ .req_params.Id }}</p>', { content_type: 'text/html' });
    const { body, type } = await ask({ ...template, ...raw, endpoint: '/p/{id}' }, '/p/7');
    deepEqual([body, type], ['<p>7</p>', 'text/html']);
  });

  it('returns 500 and logs the reason if the output does not match its content type', async () => {
    const { status, body } = await ask(made('{"a":'));
    deepEqual([status, body], [500, '']);
    ok(
      lines.some((line) =>
        /ERROR.*\[ENDPOINT: \/a\] the output of the template is not valid application\/json/.test(line),
      ),
    );
  });

  it('is also available as modifier/response-body', async () => {
    const { body } = await ask(made('{"name":{{ toJson .resp_body.n }}}', {}, 'modifier/response-body'));
    deepEqual(JSON.parse(body), { name: 'A' });
    const packed = await ask({ ...made('{{ .resp_status }}', {}, 'modifier/response-body'), ...raw });
    equal(packed.body, '200');
  });

  it('cannot be combined with text modifiers in the same namespace', async () => {
    for (const level of ['endpoint', 'backend'] as const) {
      ok((await faultsOf(alias, level, { template: 'e30=', modifiers: [] })).length > 0);
      ok((await faultsOf(alias, level, { path: 'a', modifiers: [] })).length > 0);
      ok((await faultsOf(alias, level, { path: 'a', template: 'e30=' })).length > 0);
      ok((await faultsOf(plugin, level, { path: 'a', template: 'e30=' })).length > 0);
      ok((await faultsOf(plugin, level, {})).length > 0);
      ok((await faultsOf(plugin, level, { modifiers: [] })).length > 0);
    }
  });

  it('decodes its output by content type: XML as data, others as text', async () => {
    const xml = await ask(made('<a><b>1</b></a>', { content_type: 'application/xml' }));
    deepEqual(JSON.parse(xml.body), { a: { b: '1' } });
    const text = await ask(made('hello {{ .resp_body.n }}', { content_type: 'text/plain' }));
    deepEqual(JSON.parse(text.body), { content: 'hello A' });
    const written = await ask({ ...made('hello', { content_type: 'text/plain' }), output_encoding: 'string' });
    equal(written.body, 'hello');
    equal((await ask(made('<a>', { content_type: 'text/xml' }))).status, 500);
  });

  it('lets the template read headers with no-op, and XML and compressed bodies as data', async () => {
    const headers = await ask({ ...made('{{ index .resp_headers "Etag" 0 }}'), ...raw });
    equal(headers.body, '"1"');
    const xml = await ask({
      ...made('{{ toJson .resp_body }}{{ .resp_body_str }}'),
      ...raw,
      backend: [{ url_pattern: '/xml' }],
    });
    equal(xml.body, '{"a":"1"}<a>1</a>');
    const packed = await ask({ ...made('{{ toJson .resp_body }}'), ...raw, backend: [{ url_pattern: '/packed' }] });
    deepEqual([packed.body, packed.headers['content-encoding']], ['{"p":1}', undefined]);
  });

  it('lets the template read the forwarded parts of the request without its body', async () => {
    const template =
      '{"h":{{ toJson (index .req_headers "X-U") }},"q":{{ toJson .req_querystring }},"p":{{ toJson .req_path }},"m":"{{ .req_method }}","b":"{{ .req_body }}"}';
    const { body } = await ask({ ...made(template), input_query_strings: ['q'] }, '/a?q=1&r=2');
    deepEqual(JSON.parse(body), { h: null, q: { q: ['1'] }, p: '/a', m: 'GET', b: '<no value>' });
    const through = await ask({ ...made('{"h":{{ toJson (index .req_headers "X-U") }}}'), input_headers: ['X-U'] });
    deepEqual(JSON.parse(through.body), { h: ['1'] });
  });

  it('lets the template read the configured variables', async () => {
    const { body } = await ask(made('{"v":"{{ .variables.a.b }}"}', { variables: { a: { b: 'c' } } }));
    deepEqual(JSON.parse(body), { v: 'c' });
  });

  it('generates the data of one backend before the merge', async () => {
    const { body } = await ask({
      backend: [
        { url_pattern: '/b', group: 'a', ...made('{"made":{{ toJson .resp_body.a.n }}}') },
        { url_pattern: '/b', allow: ['x'] },
      ],
    });
    deepEqual(JSON.parse(body), { made: 'A', x: 1 });
  });

  it('fails only the backend whose template fails', async () => {
    const { status, completed, body } = await ask({
      backend: [
        { url_pattern: '/b', ...made('{{ fail "no" }}') },
        { url_pattern: '/b', allow: ['x'] },
      ],
    });
    deepEqual([status, completed, JSON.parse(body)], [200, 'false', { x: 1 }]);
  });

  it('returns 500 if the template fails', async () => {
    equal((await ask(made('{{ fail "no" }}'))).status, 500);
    equal((await ask({ ...made('{{ fail "no" }}'), ...raw })).status, 500);
  });

  it('runs on incomplete and empty data, but not after a failed call', async () => {
    const partial = await ask({
      ...made('{"c":{{ .resp_completed }},"n":"{{ .resp_body.a.n }}"}'),
      backend: [
        { url_pattern: '/b', group: 'a' },
        { url_pattern: '/missing', group: 'b' },
      ],
    });
    deepEqual([partial.status, partial.completed, JSON.parse(partial.body)], [200, 'false', { c: false, n: 'A' }]);
    const full = await ask(made('{"c":{{ .resp_completed }}}'));
    deepEqual([full.completed, JSON.parse(full.body)], ['true', { c: true }]);
    equal((await ask({ ...made('{"made":1}'), backend: [{ url_pattern: '/empty' }] })).body, '{"made":1}');
    deepEqual((await ask({ ...made('{"made":1}'), backend: [{ url_pattern: '/missing' }] })).status, 500);
  });

  it('runs after expressions and text modifiers, and before conditions and scripts', async () => {
    const { body } = await ask({
      extra_config: {
        'modifier/jmespath': { expr: '{n: n, by: `"jmespath"`}' },
        'modifier/response-body': { modifiers: [{ upper: { field: 'by' } }] },
        ...made('{"by":{{ toJson .resp_body.by }},"made":true}').extra_config,
        'validation/cel': [{ check_expr: 'resp_data.made == true' }],
        'modifier/lua-proxy': { post: "local d = response.load():data(); d:set('seen', d:get('made'))" },
      },
    });
    deepEqual(JSON.parse(body), { by: 'JMESPATH', made: true, seen: true });
  });

  it('does not change responses without a body', async () => {
    const none = await ask({ ...made('x'), ...raw, backend: [{ url_pattern: '/none' }] });
    deepEqual([none.status, none.body, none.headers['content-length']], [204, '', undefined]);
  });

  it('does not change rejections and failures', async () => {
    for (const next of [() => refuse(403), () => Reply.failed(new BackendError('TEST', 'no'))]) {
      const harness = await openHarness(plugin, 'endpoint', { template: encoded('{}') }, { next });
      const { data, body } = await harness.send('GET /');
      deepEqual([data, body], [null, null]);
      await harness.close();
    }
  });

  it('drops headers of the original body', async () => {
    const made = Reply.raw(200, new HeaderBag(), Buffer.from('x'));
    made.trailers = new HeaderBag(['X-Checksum', '1']);
    const around = { next: () => made, endpoint: { output_encoding: 'no-op' } };
    const harness = await openHarness(plugin, 'endpoint', { template: encoded('y') }, around);
    const { trailers, body } = await harness.send('GET /');
    deepEqual([trailers, String(body)], [null, 'y']);
    await harness.close();
  });

  it('treats __proto__ like any other key', async () => {
    const next = () => Reply.data(JSON.parse('{"__proto__":{"a":1}}'));
    const template = encoded('{"__proto__":{"p":{{ index .resp_body "__proto__" "a" }}}}');
    const harness = await openHarness(plugin, 'endpoint', { template }, { next });
    equal(JSON.stringify((await harness.send('GET /')).data), '{"__proto__":{"p":1}}');
    equal(({} as { p?: unknown }).p, undefined);
    await harness.close();
  });

  it('logs input and output if configured', async () => {
    await ask(made('{"o":"{{ .resp_body.n }}"}', { debug: true }));
    const text = lines.join('\n');
    match(text, /DEBUG.*template input:.*"resp_body":\{"n":"A"/s);
    match(text, /DEBUG.*template output:.*\{"o":"A"\}/s);
  });

  it('is rejected with an invalid template, and for streamed responses', async () => {
    const codesOf = async (config: object, around = {}) =>
      (await faultsOf(plugin, 'endpoint', config, around)).map(([code, at]) => [code, at]);
    deepEqual(await codesOf({ template: encoded('{{ if }}') }), [['TEMPLATE_INVALID', '/template']]);
    deepEqual(await codesOf({ template: '?' }), [['TEMPLATE_BASE64', '/template']]);
    deepEqual(await codesOf({ path: 'no-such-file.tmpl' }), [['FILE_UNREADABLE', '/path']]);
    deepEqual(await codesOf({ template: 'e30=' }, { endpoint: { output_encoding: 'streaming' } }), [
      ['TEMPLATE_STREAM', ''],
    ]);
  });
});
