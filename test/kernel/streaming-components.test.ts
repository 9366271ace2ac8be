import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import type { Operations } from '#kernel';
import { type Answering, rememberingSinks, startBackend, startGateway, type TestBackend } from '../support/gateway.ts';
import { openStream } from '../support/stream-client.ts';

describe('components in a stream of messages', () => {
  let backend: TestBackend;
  let gateway: Operations | undefined;
  let lines: readonly string[];
  let respond: Answering;

  beforeEach(async () => {
    respond = (_seen, response) => response.writeHead(200).end(stream);
    backend = await startBackend((seen, response) => respond(seen, response));
  });
  afterEach(async () => {
    await backend.close();
    await gateway?.close();
    gateway = undefined;
  });

  const messages = [
    { n: 1, level: 'debug', mail: 'ada@example.com' },
    { n: 2, level: 'info', mail: 'bob@example.com' },
  ];
  const stream = `${messages.map((data) => `data: ${JSON.stringify(data)}\n\n`).join('')}: ping\n\ndata: [DONE]\n\n`;

  const config = (ofEndpoint: object, ofBackend: object = {}, root: object = {}) => ({
    host: [backend.url],
    endpoints: [
      {
        endpoint: '/s/{id}',
        output_encoding: 'sse',
        extra_config: ofEndpoint,
        backend: [{ url_pattern: '/x', extra_config: ofBackend }],
      },
    ],
    ...root,
  });

  /** Text that the client receives, without the messages that no component reads. */
  const through = async (...components: Parameters<typeof config>): Promise<string> => {
    const sinks = rememberingSinks();
    ({ lines } = sinks);
    gateway = await startGateway(config(...components), { sinks });
    const { port } = await gateway.listen();
    const client = await openStream(port, '/s/7');
    equal(await client.ended(), true);
    const text = client.bytes.toString();
    ok(client.status !== 200 || text.endsWith(': ping\n\ndata: [DONE]\n\n'), text);
    return text.replace(': ping\n\ndata: [DONE]\n\n', '');
  };
  const only = (...data: object[]) => data.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('');

  for (const [level, place] of [
    ['the endpoint', (component: object): [object, object] => [component, {}]],
    ['the backend', (component: object): [object, object] => [{}, component]],
  ] as const) {
    describe(`at ${level}`, () => {
      it('drop messages that do not meet the conditions of validation/cel on their data', async () => {
        const checks = [{ check_expr: "resp_data.level != 'debug'" }, { check_expr: "req_method == 'GET'" }];
        equal(await through(...place({ 'validation/cel': checks })), only(messages[1]!));
      });

      it('drop messages that violate security/policies', async () => {
        const resp = { policies: ['resp_data.n < 2.0'] };
        equal(await through(...place({ 'security/policies': { resp } })), only(messages[0]!));
        ok(!lines.some((line) => line.includes('INFO') && line.includes('policy #0')), lines.join(''));
      });

      it('drop messages on which a condition fails', async () => {
        equal(await through(...place({ 'validation/cel': [{ check_expr: 'resp_data.missing.field == 1' }] })), '');
      });

      it('replace messages by the result of modifier/jmespath', async () => {
        equal(
          await through(...place({ 'modifier/jmespath': { expr: '{id: n, all: [level]}' } })),
          only({ id: 1, all: ['debug'] }, { id: 2, all: ['info'] }),
        );
      });

      it('replace messages by the output of modifier/response-body-generator', async () => {
        const template = Buffer.from('{"id":{{ .resp_body.n }},"of":"{{ .req_params.Id }}"}').toString('base64');
        equal(
          await through(...place({ 'modifier/response-body-generator': { template } })),
          only({ id: 1, of: '7' }, { id: 2, of: '7' }),
        );
      });

      it('change texts of messages with modifier/response-body', async () => {
        const modifiers = [{ regexp: { field: 'mail', find: '^.*@', replace: '***@' } }];
        const hidden = messages.map((data) => ({ ...data, mail: '***@example.com' }));
        equal(await through(...place({ 'modifier/response-body': { modifiers } })), only(...hidden));
      });

      it('change texts of messages with content-replacer', async () => {
        const settings = { name: ['content-replacer'], 'content-replacer': { mail: { find: '@', replace: ' at ' } } };
        const changed = messages.map((data) => ({ ...data, mail: data.mail.replace('@', ' at ') }));
        equal(await through(...place({ 'plugin/req-resp-modifier': settings })), only(...changed));
        ok(!lines.some((line) => line.includes('CONTENT_REPLACER_RAW')), lines.join(''));
      });
    });
  }

  it('run in the order of decoded responses: conditions see the data of the backend', async () => {
    const ofBackend = {
      'validation/cel': [{ check_expr: 'resp_data.n > 1.0' }],
      'modifier/jmespath': { expr: '{m: n}' },
    };
    const before = await through({}, ofBackend);
    await gateway!.close();
    gateway = undefined;
    respond = (_seen, response) =>
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(messages[1]));
    const decoded = config({}, ofBackend);
    Object.assign(decoded.endpoints[0]!, { output_encoding: 'json' });
    gateway = await startGateway(decoded);
    const { statusCode, payload } = await gateway.inject('/s/7');
    equal(before, statusCode === 200 ? `data: ${payload}\n\n` : '');
  });

  it('evaluate conditions of the service for each message, too', async () => {
    const extra_config = { 'validation/cel': [{ check_expr: 'resp_data.n > 1.0' }] };
    equal(await through({}, {}, { extra_config }), only(messages[1]!));
  });

  it('reject the request before the stream if a condition on it is not met', async () => {
    const checks = [{ check_expr: "req_method == 'POST'" }, { check_expr: 'resp_data.n > 1.0' }];
    gateway = await startGateway(config({ 'validation/cel': checks }));
    equal((await gateway.inject('/s/7')).statusCode, 500);
    equal(backend.requests.length, 0);
  });

  it('pass responses other than 200 unchanged, without evaluating conditions on their data', async () => {
    respond = (_seen, response) => response.writeHead(429).end('{"n":0}');
    gateway = await startGateway(config({ 'validation/cel': [{ check_expr: 'resp_data.n > 1.0' }] }));
    const { statusCode, payload } = await gateway.inject('/s/7');
    deepEqual([statusCode, payload], [429, '{"n":0}']);
  });

  it('drop a message for which a template renders no JSON, with one warning', async () => {
    const template = Buffer.from('{{ if eq .resp_body.level "info" }}{"ok":true}{{ end }}').toString('base64');
    equal(await through({ 'modifier/response-body-generator': { template } }), only({ ok: true }));
    equal(lines.filter((line) => line.includes('message dropped')).length, 1);
  });

  for (const [what, components, message] of [
    [
      'that combines the data of a message with the status of the response',
      { 'validation/cel': [{ check_expr: 'resp_data.n > 1.0 && resp_metadata_status == 200' }] },
      /ENDPOINT_NO_DATA/,
    ],
    [
      'with a template that renders no documents',
      { 'modifier/response-body-generator': { template: 'eA==', content_type: 'text/plain' } },
      /TEMPLATE_STREAM/,
    ],
  ] as const) {
    it(`are rejected in a configuration ${what}`, async () => {
      await rejects(startGateway(config(components)), (error: Error) => {
        match(error.message, message);
        return true;
      });
    });
  }
});
