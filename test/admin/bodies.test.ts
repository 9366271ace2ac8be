import { deepEqual, equal, match } from 'node:assert/strict';
import { config, openAdmin, type TestAdmin } from './support.ts';

describe('a configuration sent to the admin API', () => {
  let one: TestAdmin;
  before(async () => {
    one = await openAdmin({ ...config(), extra_config: { 'admin/api': { max_body: 2000 } } });
  });
  after(() => one.close());

  const send = (body: string | Buffer, headers: Record<string, string> = {}) =>
    one.ask('/v1/check', { method: 'POST', body, headers });
  const as = (type: string) => ({ 'content-type': type });
  const yaml =
    'version: 3\nendpoints:\n  - endpoint: /a\n    backend:\n      - host: ["http://b"]\n        url_pattern: /\n';
  const toml = `version = 3\n[[endpoints]]\nendpoint = "/a"\n[[endpoints.backend]]\nhost = ["http://b"]\nurl_pattern = "/"\n`;

  it('can be JSON', async () => equal((await send(JSON.stringify(config()))).status, 200));

  it('can be YAML', async () => equal((await send(yaml, as('application/yaml'))).status, 200));

  it('can be TOML', async () => equal((await send(toml, as('application/toml'))).status, 200));

  it('accepts a Content-Type in any letter case, with UTF-8 as its charset', async () => {
    equal((await send(JSON.stringify(config()), as('Application/JSON; charset="UTF-8"'))).status, 200);
  });

  it('is rejected with 415 for any other media type', async () => {
    const { status, body } = await send('x', as('text/plain'));
    equal(status, 415);
    equal(body.type, 'urn:gateway:problem:unsupported-media-type');
  });

  it('that is empty is reported as an error at line 1, column 1, for every operation with a body', async () => {
    const calls = [
      one.ask('/v1/config', { method: 'PUT' }),
      one.ask('/v1/config/diff', { method: 'POST' }),
      one.ask('/v1/config', { method: 'PATCH', headers: { 'if-match': '*' } }),
      one.ask('/v1/logging', { method: 'PUT' }),
    ];
    for (const { status, body } of await Promise.all(calls)) {
      equal(status, 400);
      const [{ line, column, severity, message }] = body.errors;
      deepEqual([body.type, line, column, severity], ['urn:gateway:problem:syntax', 1, 1, 'error']);
      match(message, /the file is empty/);
    }
  });

  it('is rejected without a Content-Type', async () => equal((await send('{}', as(''))).status, 415));

  it('is rejected in a character set other than UTF-8', async () => {
    equal((await send('{}', as('application/json; charset=latin1'))).status, 415);
  });

  it('is rejected if it is compressed', async () =>
    equal((await send('{}', { 'content-encoding': 'gzip' })).status, 415));

  it('must be UTF-8; the error has the place of the invalid byte', async () => {
    const { status, body } = await send(Buffer.from('{\n  "name": "\xff"}', 'latin1'));
    equal(status, 400);
    equal(body.type, 'urn:gateway:problem:syntax');
    deepEqual([body.errors[0].line, body.errors[0].column], [2, 12]);
  });

  it('must be complete JSON; the error has its place', async () => {
    const { status, body } = await send('{\n  "version": 3,\n    x\n}');
    equal(status, 400);
    equal(body.type, 'urn:gateway:problem:syntax');
    const [{ line, column, code }] = body.errors;
    deepEqual([line, column, code], [3, 5, 'CONFIG_SYNTAX']);
  });

  it('must not contain a key twice', async () => {
    const { status, body } = await send('{"version": 3, "version": 3}');
    equal(status, 400);
    equal(body.errors[0].code, 'CONFIG_DUPLICATE_KEY');
  });

  it('is rejected if its Content-Length exceeds max_body', async () => {
    const { status, body } = await send(JSON.stringify({ ...config(), name: 'x'.repeat(3000) }));
    equal(status, 413);
    equal(body.type, 'urn:gateway:problem:payload-too-large');
  });

  it('is rejected if its chunks exceed max_body', async () => {
    const response = await fetch(`http://${one.admin.address}/v1/check`, {
      method: 'POST',
      headers: { authorization: 'Bearer the-token-of-tests', 'content-type': 'application/json' },
      body: new Blob(['x'.repeat(1500), 'x'.repeat(1500)]).stream(),
      duplex: 'half',
    } as RequestInit);
    equal(response.status, 413);
  });

  it('is required by the operation that compares configurations', async () => {
    equal((await one.ask('/v1/config/diff', { method: 'POST' })).status, 400);
  });

  describe('as a multipart form', () => {
    const boundary = 'b0undary';
    const section = (name: string, content: string, type = 'application/json') =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"; filename="${name}"\r\n` +
      `Content-Type: ${type}\r\n\r\n${content}\r\n`;
    const form = (...segments: string[]) =>
      send(`${segments.join('')}--${boundary}--\r\n`, as(`multipart/form-data; boundary=${boundary}`));

    it('must be the only file of the form', async () =>
      equal((await form(section('gateway.json', JSON.stringify(config())))).status, 200));

    it('is parsed in the format that its file name indicates if its media type is generic', async () => {
      equal((await form(section('gateway.yaml', yaml, 'application/octet-stream'))).status, 200);
    });

    it('is rejected if the form has several files; the error names them', async () => {
      const { status, body } = await form(section('gateway.json', '{}'), section('limits.json', '{}'));
      equal(status, 400);
      match(body.detail, /"limits\.json" cannot be uploaded with it/);
    });

    it('is rejected if its media type is unknown', async () => {
      equal((await form(section('gateway.xml', '<a/>', 'text/xml'))).status, 415);
    });

    it('is rejected if the form has no file', async () => equal((await form()).status, 400));

    it('is rejected if the form is malformed', async () => {
      equal((await send('nonsense', as(`multipart/form-data; boundary=${boundary}`))).status, 400);
    });
  });
});
