import { deepEqual, equal, match, ok } from 'node:assert/strict';
import type { Gateway } from '#kernel';
import { plugin as old } from '../../../plugins/modifier/body-generator.ts';
import { plugin } from '../../../plugins/modifier/request-body-generator.ts';
import { createFolder } from '../../kernel/cli/command.ts';
import { json, rememberingSinks, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { openHarness } from '../../support/harness.ts';
import { encoded, faultsOf } from './generators.ts';

const namespace = 'modifier/request-body-generator';

describe(namespace, () => {
  let backend: TestBackend;
  let gateway: Gateway | undefined;
  let lines: readonly string[];

  before(async () => {
    backend = await startBackend(({ target }, response) =>
      json(target === '/first' ? { t: 'from first' } : { ok: 1 })({} as never, response),
    );
  });
  after(() => backend.close());
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  const start = async (endpoint: object) => {
    const sinks = rememberingSinks();
    lines = sinks.lines;
    gateway = await startGateway(
      {
        host: [backend.url],
        extra_config: { 'telemetry/logging': { level: 'DEBUG', stdout: true } },
        endpoints: [{ endpoint: '/a', method: 'POST', backend: [{ url_pattern: '/b' }], ...endpoint }],
      },
      { sinks },
    );
  };
  const made = (template: string, fields: object = {}, name = namespace) => ({
    extra_config: { [name]: { template: encoded(template), ...fields } },
  });
  const send = async (
    body: string | undefined,
    { url = '/a', method = 'POST' as 'GET' | 'POST', headers = { 'content-type': 'application/json' } as object } = {},
  ) => {
    const { statusCode } = await gateway!.inject({
      method,
      url,
      headers: { ...headers },
      ...(body !== undefined && { payload: body }),
    });
    const seen = backend.requests.at(-1);
    return { status: statusCode, seen: seen!, body: String(seen?.body), type: seen?.headers['content-type'] };
  };

  it("generates a body from path parameters instead of the client's body", async () => {
    await start({
      ...made('{"c":"{{ .req_params.Country }}"}'),
      ...{ endpoint: '/c/{country}', method: 'GET', backend: [{ url_pattern: '/b', method: 'POST' }] },
    });
    const { body, type, seen } = await send(undefined, { url: '/c/es', method: 'GET', headers: {} });
    deepEqual(
      [body, type, seen.method, seen.headers['content-length']],
      ['{"c":"es"}', 'application/json', 'POST', '10'],
    );
  });

  it('lets the template read forwarded query parameters as lists', async () => {
    await start({
      ...made('{"q":{{ toJson .req_querystring.q }},"x":"{{ .req_querystring.x }}"}'),
      input_query_strings: ['q'],
    });
    equal((await send('', { url: '/a?q=1&q=2&x=3' })).body, '{"q":["1","2"],"x":"<no value>"}');
  });

  it('lets the template read the decoded body and the configured variables', async () => {
    await start(made('{"w":{{ toJson .req_body }},"v":"{{ .variables.v }}"}', { variables: { v: 'x' } }));
    equal((await send('{"a":1}')).body, '{"w":{"a":1},"v":"x"}');
  });

  it('generates any content type', async () => {
    await start(made('<a>{{ .req_body.id }}</a>', { content_type: 'text/xml' }));
    const { body, type } = await send('{"id":7}');
    deepEqual([body, type], ['<a>7</a>', 'text/xml']);
  });

  it('lets the template read forwarded headers only, and sends an empty body for empty output', async () => {
    const template = '{{ with index .req_headers "X-U" }}{{ index . 0 }}{{ end }}';
    await start(made(template));
    const headers = { 'content-type': 'application/json', 'x-u': '1' };
    const { body, seen } = await send('{"a":1}', { headers });
    deepEqual([body, seen.headers['transfer-encoding']], ['', undefined]);
    await gateway!.close();
    await start({ ...made(template), input_headers: ['X-U'] });
    equal((await send('{"a":1}', { headers })).body, '1');
  });

  it('prints <no value> for a missing key', async () => {
    await start(made('{{ .req_params.Nope }}'));
    equal((await send('')).body, '<no value>');
  });

  it('returns 500 without a call and logs the reason if the template fails', async () => {
    await start(made('\n  {{ fail "no" }}'));
    const before = backend.requests.length;
    equal((await send('')).status, 500);
    equal(backend.requests.length, before);
    ok(lines.some((line) => /ERROR.*\[ENDPOINT: \/a\] .*2:\d+.*no/.test(line)));
  });

  it('lets the template read the responses of earlier backends', async () => {
    await start({
      extra_config: { proxy: { sequential: true, sequential_propagated_params: ['resp0_t'] } },
      backend: [
        { url_pattern: '/first' },
        {
          url_pattern: '/second',
          ...made('{{ index .req_params "Resp0_t" }}|{{ .req_params.Resp0_t }}', { content_type: 'text/plain' }),
        },
      ],
    });
    equal((await send('')).body, 'from first|from first');
  });

  it('accepts a template either as a file or inline', async () => {
    for (const [at, level] of [
      [plugin, 'endpoint'],
      [plugin, 'backend'],
      [old, 'backend'],
    ] as const) {
      deepEqual((await faultsOf(at, level, { path: 'a', template: 'e30=' })).length, 1);
      deepEqual((await faultsOf(at, level, {})).length, 1);
    }
  });

  it('reads a template from a file', async () => {
    const folder = createFolder();
    const path = folder.write('order.tmpl', '{"id":{{ .req_body.id }}}');
    await start({ extra_config: { [namespace]: { path } } });
    equal((await send('{"id":7}')).body, '{"id":7}');
    folder.remove();
  });

  it("runs for a backend after the endpoint's generator, whose output it can read, and for no other backend", async () => {
    await start({
      ...made('{"made":"at the endpoint"}'),
      backend: [{ url_pattern: '/one', ...made('{"one":"{{ .req_body.made }}"}') }, { url_pattern: '/two' }],
    });
    await send('{"a":1}');
    const bodyOf = (target: string) => String(backend.requests.findLast((request) => request.target === target)!.body);
    deepEqual([bodyOf('/one'), bodyOf('/two')], ['{"one":"at the endpoint"}', '{"made":"at the endpoint"}']);
  });

  it('fails only the backend whose template fails', async () => {
    await start({ backend: [{ url_pattern: '/one', ...made('{{ fail "no" }}') }, { url_pattern: '/two' }] });
    const { statusCode, headers, body } = await gateway!.inject({ method: 'POST', url: '/a', payload: '{}' });
    deepEqual([statusCode, headers['x-gateway-completed'], JSON.parse(body)], [200, 'false', { ok: 1 }]);
  });

  it('decodes JSON, XML and forms by content type, and others as text', async () => {
    await start(made('{{ toJson .req_body }} {{ .req_body_str }}', { content_type: 'text/plain' }));
    const results = [];
    for (const [type, text] of [
      ['application/json; charset=utf-8', '{"a":1}'],
      ['application/problem+json', '[1]'],
      ['text/xml', '<a b="1">x</a>'],
      ['application/x-www-form-urlencoded', 'a=1&a=2&b=%C3%BC'],
      ['text/plain', '{"a":1}'],
      ['application/json', '{"a"'],
    ] as const) {
      results.push((await send(text, { headers: { 'content-type': type } })).body);
    }
    deepEqual(results, [
      '{"a":1} {"a":1}',
      '[1] [1]',
      '{"a":{"#text":"x","-b":"1"}} <a b="1">x</a>',
      '{"a":["1","2"],"b":["ü"]} a=1&a=2&b=%C3%BC',
      'null {"a":1}',
      'null {"a"',
    ]);
  });

  it('rejects forms of more than 1,000 fields with 413 without a call', async () => {
    await start(made('{{ toJson .req_body }}', { content_type: 'text/plain' }));
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const form = Array.from({ length: 150_000 }, (_, at) => `${at}=`).join('&');
    const { length } = backend.requests;
    equal((await gateway!.inject({ method: 'POST', url: '/a', headers, payload: form })).statusCode, 413);
    equal(backend.requests.length, length);
    equal((await send('a=1&'.repeat(999), { headers })).body.includes('"a"'), true);
  });

  it('lets the template read the path and method of the request', async () => {
    await start({ ...made('{{ .req_method }} {{ .req_path }}'), endpoint: '/p/{x}' });
    equal((await send('', { url: '/p/a%20b' })).body, 'POST /p/a b');
  });

  for (const template of [
    '{{ index . (printf "req_%s" "path") }}',
    '{{ index $ (printf "req_%s" "path") }}',
    '{{ range $key, $value := . }}{{ if hasSuffix "_path" $key }}{{ $value }}{{ end }}{{ end }}',
    '{{ define "x" }}{{ index . (list "req" "path" | join "_") }}{{ end }}{{ template "x" . }}',
  ]) {
    it(`lets the template read values that are not addressed by name: ${template}`, async () => {
      await start(made(template));
      equal((await send('')).body, '/a');
    });
  }

  it('replaces the content type and length, and removes the content encoding of the original body', async () => {
    await start(made('{"é":1}'));
    const { body, type, seen } = await send('{"long":"body of the client"}', {
      headers: { 'content-type': 'text/plain', 'content-encoding': 'gzip' },
    });
    deepEqual(
      [body, type, seen.headers['content-encoding'], seen.headers['content-length']],
      ['{"é":1}', 'application/json', undefined, '8'],
    );
  });

  it('prints numbers unchanged without escaping, and supports Sprig functions', async () => {
    await start(
      made(
        '{{ .req_body.n }} {{ .req_body.big }} {{ .req_body.t }} {{ .req_body.t | upper | quote }} {{ marshal .req_body.l }}',
      ),
    );
    const { body } = await send('{"n":1000000,"big":9007199254740993,"t":"<a>\\"","l":[1,"b"]}');
    equal(body, '1000000 9007199254740993 <a>" "<A>\\"" [1,"b"]');
  });

  it('fails if the template reads a field of null', async () => {
    await start(made('{{ .req_body.user.name }}'));
    equal((await send('{"user":null}')).status, 500);
  });

  it('cannot access anything except its data', async () => {
    await start(made('{{ .req_body.constructor }} {{ index .req_body "__proto__" "a" }} {{ .toString }}'));
    equal((await send('{"__proto__":{"a":1}}')).body, '<no value> 1 <no value>');
    for (const call of ['env "HOME"', 'expandenv "$HOME"']) {
      deepEqual(
        (await faultsOf(plugin, 'endpoint', { template: encoded(`{{ ${call} }}`) })).map(([code]) => code),
        ['TEMPLATE_INVALID'],
      );
    }
  });

  it('does not modify the variables for the next call', async () => {
    await start(made('{{ $_ := set .variables "v" .req_body.v }}{{ .variables.v }}', { variables: { v: 'x' } }));
    const first = await send('{"v":"changed"}');
    equal(first.status, 500);
    await gateway!.close();
    await start(
      made('{{ $own := merge (dict "v" .req_body.v) .variables }}{{ $own.v }}{{ .variables.v }}', {
        variables: { v: 'x' },
      }),
    );
    equal((await send('{"v":"y"}')).body, 'yx');
    equal((await send('{"v":"z"}')).body, 'zx');
  });

  it('stops an endless template', async () => {
    await start(made('{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}'));
    equal((await send('')).status, 500);
    ok(lines.some((line) => /ERROR.*\[ENDPOINT: \/a\]/.test(line)));
  });

  it('logs input and output if configured', async () => {
    await start(made('out {{ .req_body.a }}', { debug: true }));
    await send('{"a":"b"}');
    const text = lines.join('\n');
    match(text, /DEBUG.*template input:.*"req_body":\{"a":"b"\}/s);
    match(text, /DEBUG.*template output:.*out b/s);
  });

  it('rejects an oversized body with 413', async () => {
    await start({ extra_config: { ...made('{}').extra_config, proxy: { max_payload: 4 } } });
    equal((await send('{"a":1}')).status, 413);
  });

  it('is rejected with an invalid template and the position of the error', async () => {
    const codesOf = async (config: object) =>
      (await faultsOf(plugin, 'endpoint', config)).map(([code, at]) => [code, at]);
    deepEqual(await codesOf({ template: encoded('{{ if }}') }), [['TEMPLATE_INVALID', '/template']]);
    deepEqual(await codesOf({ template: encoded('{{ nothing 1 }}') }), [['TEMPLATE_INVALID', '/template']]);
    deepEqual(await codesOf({ template: 'no base64!' }), [['TEMPLATE_BASE64', '/template']]);
    deepEqual(await codesOf({ path: 'no-such-file.tmpl' }), [['FILE_UNREADABLE', '/path']]);
    const [[, , message]] = (await faultsOf(plugin, 'endpoint', { template: encoded('a\n {{ nothing 1 }}') })) as [
      [string, string, string],
    ];
    match(message, /2:\d+/);
  });

  it('has a legacy name at backends, which cannot be combined with the current name', async () => {
    await start({ backend: [{ url_pattern: '/old', ...made('{"old":true}', {}, 'modifier/body-generator') }] });
    equal((await send('')).body, '{"old":true}');
    const both = { 'modifier/body-generator': {}, [namespace]: {} };
    const faults = await faultsOf(old, 'backend', { template: 'e30=' }, { backend: { extra_config: both } });
    deepEqual(
      faults.map(([code, at]) => [code, at]),
      [['TEMPLATE_TWICE', '']],
    );
    const harness = await openHarness(old, 'backend', { template: 'e30=' });
    deepEqual(harness.warnings, []);
    await harness.close();
  });
});
