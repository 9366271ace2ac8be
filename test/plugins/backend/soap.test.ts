import { deepEqual, equal, match } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Operations } from '#kernel';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import {
  type Answering,
  rememberingSinks,
  type SeenRequest,
  startBackend,
  startGateway,
  type TestBackend,
} from '../../support/gateway.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const capital = `<soap:Envelope xmlns:soap="s"><soap:Body><m:CapitalCityResponse xmlns:m="u"><m:CapitalCityResult>Madrid</m:CapitalCityResult></m:CapitalCityResponse></soap:Body></soap:Envelope>`;
const fault =
  '<soap:Envelope xmlns:soap="s"><soap:Body><soap:Fault><faultstring>no</faultstring></soap:Fault></soap:Body></soap:Envelope>';
const xml =
  (body: string, status = 200): Answering =>
  (_seen, response) =>
    response.writeHead(status, { 'Content-Type': 'text/xml' }).end(body);

describe('backend/soap', () => {
  let stub: TestBackend;
  let respond: Answering;
  let gateway: Operations | undefined;
  let folder: string;
  const sinks = rememberingSinks();

  beforeEach(async () => {
    sinks.lines.length = 0;
    folder = mkdtempSync(join(tmpdir(), 'sluice-soap-'));
    respond = xml(capital);
    stub = await startBackend((...given) => respond(...given));
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    await stub.close();
    rmSync(folder, { recursive: true });
  });

  const start = async (soap: object, { endpoint = {}, backend = {} }: { endpoint?: object; backend?: object } = {}) => {
    gateway = await startGateway(
      {
        extra_config: { 'telemetry/logging': { level: 'DEBUG', stdout: true } },
        endpoints: [
          {
            endpoint: '/capital-of/{country}',
            ...endpoint,
            backend: [
              {
                host: [stub.url],
                url_pattern: '/soap',
                encoding: 'xml',
                target: 'Envelope.Body.CapitalCityResponse',
                mapping: { CapitalCityResult: 'capital' },
                deny: ['-m'],
                ...backend,
                extra_config: { 'backend/soap': soap, ...(backend as { extra_config?: object }).extra_config },
              },
            ],
          },
        ],
      },
      { sinks },
    );
  };
  const ask = (options: object = {}) => gateway!.inject({ url: '/capital-of/ES', ...options });
  const last = (): SeenRequest => stub.requests.at(-1)!;
  const country = '<c>{{ xmlEscape .req_params.Country }}</c>';

  it('posts the output of its template, and decodes the XML response', async () => {
    writeFileSync(join(folder, 'capital.xml'), country);
    await start({ path: join(folder, 'capital.xml') });
    equal((await ask()).body, '{"capital":"Madrid"}');
    const { method, headers, body } = last();
    deepEqual(
      [method, headers['content-type'], headers['content-length'], String(body)],
      ['POST', 'text/xml', '9', '<c>ES</c>'],
    );
  });

  it('accepts a template in base64', async () => {
    await start({ template: base64(country) });
    equal((await ask()).body, '{"capital":"Madrid"}');
    equal(String(last().body), '<c>ES</c>');
  });

  it("sends the configured content type instead of the client's", async () => {
    await start(
      { template: base64(country), content_type: 'application/soap+xml; charset=utf-8' },
      { endpoint: { input_headers: ['Content-Type'], method: 'POST' } },
    );
    await ask({ method: 'POST', payload: '{}', headers: { 'content-type': 'application/json' } });
    equal(last().headers['content-type'], 'application/soap+xml; charset=utf-8');
  });

  const ofBody = base64('<a>{{ .req_body.a | xmlEscape }}</a>');
  const sent = { method: 'POST', payload: '{"a":"1<2"}', headers: { 'content-type': 'application/json' } };
  it('escapes values of a JSON body', async () => {
    await start({ template: ofBody }, { endpoint: { method: 'POST', input_headers: ['Content-Type'] } });
    await ask(sent);
    equal(String(last().body), '<a>1&lt;2</a>');
  });

  it('reads form and XML bodies', async () => {
    await start(
      { template: base64('{{ toJson .req_body | b64enc }}') },
      { endpoint: { method: 'POST', input_headers: ['Content-Type'] } },
    );
    const read = async (type: string, payload: string) => {
      await ask({ method: 'POST', payload, headers: { 'content-type': type } });
      return JSON.parse(Buffer.from(String(last().body), 'base64').toString());
    };
    deepEqual(await read('application/x-www-form-urlencoded', 'a=1&a=2'), { a: ['1', '2'] });
    deepEqual(await read('text/xml', '<r><a>1</a></r>'), { r: { a: '1' } });
    equal(await read('application/json', '{"a"'), null);
    match(sinks.lines.join(''), /WARNING.*the body is not valid application\/json/);
  });

  it('reads the body even if Content-Type is not forwarded', async () => {
    await start({ template: ofBody }, { endpoint: { method: 'POST' } });
    await ask(sent);
    equal(String(last().body), '<a>1&lt;2</a>');
  });

  it('logs the line of a missing value', async () => {
    await start({ template: base64('<a>\n{{ .req_params.Nobody }}</a>') });
    await ask();
    equal(String(last().body), '<a>\n<no value></a>');
    match(sinks.lines.join(''), /DEBUG.*\[SOAP\] template: a field is missing in line 2 of the message/);
  });

  it('fails for a SOAP fault with status 500', async () => {
    respond = xml(fault, 500);
    await start({ template: base64(country) });
    equal((await ask()).statusCode, 500);
  });

  it('returns the SOAP fault with return_error_details', async () => {
    respond = xml(fault, 500);
    await start(
      { template: base64(country) },
      { backend: { extra_config: { 'backend/http': { return_error_details: 'soap' } } } },
    );
    equal((await ask()).json().error_soap.http_body, fault);
  });

  it('returns a SOAP fault with status 200 as data', async () => {
    respond = xml(fault);
    await start({ template: base64(country) }, { backend: { target: 'Envelope.Body' } });
    deepEqual((await ask()).json(), { Fault: { faultstring: 'no' } });
  });

  it('returns the XML unchanged with the no-op encoding', async () => {
    await start(
      { template: base64(country) },
      { endpoint: { output_encoding: 'no-op' }, backend: { target: '', mapping: {}, deny: [] } },
    );
    equal((await ask()).body, capital);
  });

  it('makes only forwarded headers available to the template', async () => {
    await start(
      { template: base64('<h>{{ len .req_headers.X_A }}{{ html .req_headers }}</h>') },
      { endpoint: { input_headers: ['X-B'] } },
    );
    await ask({ headers: { 'X-A': 'secret', 'X-B': 'seen' } });
    equal(String(last()?.body ?? '').includes('secret'), false);
  });

  it('makes the backend path available to the template', async () => {
    const template = base64('<p>{{ .req_path | xmlEscape }}</p>');
    await start({ template }, { backend: { url_pattern: '/soap/{country}/<b>?of={country}' } });
    await gateway!.inject('/capital-of/E%20S');
    equal(String(last().body), '<p>/soap/E S/&lt;b&gt;</p>');
  });

  it("uses the backend's method", async () => {
    await start({ template: base64(country) }, { backend: { method: 'PUT' } });
    await ask();
    equal(last().method, 'PUT');
  });

  it('fails without calling the backend if the template cannot be executed, and logs the position of the error', async () => {
    await start({ template: base64('<a>\n{{ index .req_headers "X" 5 }}</a>') });
    equal((await ask()).statusCode, 500);
    equal(stub.requests.length, 0);
    match(sinks.lines.join(''), /ERROR.*2:/);
  });

  it('drops characters that are invalid in XML', async () => {
    await start(
      { template: base64('<a>{{ xmlEscape (index .req_querystring.q 0) }}</a>') },
      { endpoint: { input_query_strings: ['q'] } },
    );
    await ask({ url: '/capital-of/ES?q=%01%22%27%26%3E%EF%BF%BF%F0%9F%98%80' });
    equal(String(last().body), '<a>\ufffd&#34;&#39;&amp;&gt;\ufffd😀</a>');
  });

  const codes = async (soap: object): Promise<string[]> => {
    try {
      await start(soap);
      return gateway!.status.warnings.map(({ code }) => code);
    } catch (error) {
      if (!(error instanceof ConfigErrors)) throw error;
      return error.errors.map(({ code }) => code);
    }
  };
  for (const [what, soap, expected] of [
    ['both forms of a template', { path: 'a', template: base64('a') }, 'SCHEMA_EXACTLY_ONE'],
    ['a missing template', {}, 'SCHEMA_EXACTLY_ONE'],
    ['a file that does not exist', { path: 'no.xml' }, 'FILE_UNREADABLE'],
    ['invalid base64', { template: '<a/>' }, 'TEMPLATE_BASE64'],
    ['a template with a syntax error', { template: base64('{{ .a') }, 'TEMPLATE_INVALID'],
  ] as const) {
    it(`rejects ${what}`, async () => deepEqual(await codes(soap), [expected]));
  }

  for (const [text, count] of [
    ['<a>{{ .req_params.A }}</a>', 1],
    ['{{- range .req_querystring.q -}}{{ . }}{{- end -}}', 1],
    ['{{ $x := .req_params.A }}{{ $x }}', 1],
    ['{{ .req_params.A | upper }}', 1],
    ['{{ .req_params.A }}{{ .req_params.A }}', 1],
    // Fields named like functions.
    ['<a>{{ .req_body.date }}{{ .req_body.len }}{{ .req_body.html }}</a>', 3],
    ['{{ .req_params.A | xmlEscape }}{{ html .req_params.A }}{{ if .req_body.a }}x{{ end }}{{/* .a */}}{{ now }}', 0],
  ] as const) {
    it(`warns about unescaped output of ${text}`, async () => {
      deepEqual(await codes({ template: base64(text) }), Array(count).fill('SOAP_UNESCAPED'));
    });
  }
});
