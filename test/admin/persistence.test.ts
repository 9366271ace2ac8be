import { deepEqual, equal, match } from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { config, openAdmin, type TestAdmin } from './support.ts';

const merge = 'application/merge-patch+json';
const operations = 'application/json-patch+json';

describe('a PATCH with persist=file', () => {
  let directory: string;
  let one: TestAdmin | null;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'sluice-persistence-'));
    one = null;
  });
  afterEach(async () => {
    await one?.close();
    rmSync(directory, { recursive: true });
  });

  const open = async (name: string, text: string): Promise<string> => {
    const file = join(directory, name);
    writeFileSync(file, text);
    one = await openAdmin(file);
    return file;
  };
  const change = (method: string, body: object, type: string) =>
    one!.ask('/v1/config?persist=file', { method, body, headers: { 'content-type': type, 'if-match': '*' } });

  const { backend } = config().endpoints[0]!;
  const added = { op: 'add', path: '/endpoints/-', value: { endpoint: '/b', backend } };

  it('keeps layout and comments of JSON', async () => {
    const text = `{ // why\n  "version": 3,\n\n  "endpoints": [\n    {"endpoint": "/a", "backend": ${JSON.stringify(backend)}} // one\n  ]\n}\n`;
    const file = await open('gateway.json', text);
    equal((await change('PATCH', { timeout: '4s' }, merge)).status, 200);
    equal(readFileSync(file, 'utf8'), text.replace(/\n\}\n$/, ',\n  "timeout": "4s"\n}\n'));
    equal((await change('PATCH', { timeout: null }, merge)).status, 200);
    equal(readFileSync(file, 'utf8'), text);
    equal((await one!.ask('/v1/status')).body.drift, false);
  });

  it('keeps layout and comments of YAML and TOML', async () => {
    const texts = {
      'gateway.yaml':
        'version: 3 # why\nendpoints:\n  - endpoint: /a # one\n    backend:\n      - url_pattern: /\n        host: ["http://127.0.0.1:9"]\n',
      'gateway.toml':
        'version = 3 # why\n\n[[endpoints]]\nendpoint = "/a" # one\nbackend = [{ url_pattern = "/", host = ["http://127.0.0.1:9"] }]\n',
    };
    for (const [name, text] of Object.entries(texts)) {
      const file = await open(name, text);
      const { status, body } = await change(
        'PATCH',
        [added, { op: 'replace', path: '/endpoints/0/endpoint', value: '/c' }],
        operations,
      );
      equal(status, 200, JSON.stringify(body));
      equal(readFileSync(file, 'utf8').startsWith(text.replace('/a', '/c')), true, readFileSync(file, 'utf8'));
      deepEqual(
        one!.gateway.config.endpoints.map(({ endpoint }) => endpoint),
        ['/c', '/b'],
      );
      equal((await one!.ask('/v1/reload', { method: 'POST' })).body.result, 'unchanged');
      await one!.close();
    }
    one = null;
  });

  it('also writes earlier changes that were not persisted', async () => {
    const file = await open('gateway.json', JSON.stringify(config(), null, 2));
    await one!.ask('/v1/config', { method: 'PUT', body: config('/x') });
    equal((await change('PATCH', { timeout: '4s' }, merge)).status, 200);
    deepEqual(JSON.parse(readFileSync(file, 'utf8')), { ...config('/x'), timeout: '4s' });
  });

  it('is rejected if the file cannot express the change, and leaves the file unchanged', async () => {
    const text =
      'version: 3\nendpoints:\n  - &x {endpoint: /a, backend: [{url_pattern: /, host: ["http://127.0.0.1:9"]}]}\n  - {<<: *x, endpoint: /b}\n';
    const file = await open('gateway.yaml', text);
    const { status, body } = await change(
      'PATCH',
      [{ op: 'replace', path: '/endpoints/1/backend/0/url_pattern', value: '/z' }],
      operations,
    );
    deepEqual([status, body.type], [409, 'urn:gateway:problem:file-not-editable']);
    deepEqual([readFileSync(file, 'utf8'), one!.gateway.status.revision], [text, 1]);
  });

  describe('to a file that takes values from other sources', () => {
    const set = (values: Record<string, string>) => {
      const before = Object.keys(values).map((name) => [name, process.env[name]] as const);
      Object.assign(process.env, values);
      return () => {
        for (const [name, value] of before) {
          if (value === undefined) delete process.env[name];
          else process.env[name] = value;
        }
      };
    };

    it('is rejected for a template, and leaves it unchanged', async () => {
      mkdirSync(join(directory, 'settings'));
      writeFileSync(join(directory, 'settings', 'env.json'), '{"timeout": "2s"}');
      const restore = set({ FC_ENABLE: '1', FC_SETTINGS: join(directory, 'settings') });
      try {
        const text = `{"version": 3, "timeout": "{{ .env.timeout }}", "endpoints": ${JSON.stringify(config().endpoints)}}`;
        const file = await open('gateway.tmpl', text);
        for (const [method, body, type] of [
          ['PATCH', { timeout: '4s' }, merge],
          ['PUT', config('/b'), 'application/json'],
        ] as const) {
          const { status, body: answer } = await change(method, body, type);
          deepEqual([status, answer.type], [409, 'urn:gateway:problem:file-is-template']);
          match(answer.detail, /gateway\.tmpl is a template or contains environment variables/);
        }
        deepEqual([readFileSync(file, 'utf8'), one!.gateway.status.revision], [text, 1]);
      } finally {
        restore();
      }
    });

    it('is rejected for a file with interpolated secrets, and leaves it unchanged', async () => {
      writeFileSync(join(directory, 'secret.txt'), 'TOP-SECRET-FROM-FILE');
      const restore = set({ GATEWAY_ENV_INTERPOLATION: '1' });
      try {
        const text = JSON.stringify({ ...config(), name: `\${file:${join(directory, 'secret.txt')}}` });
        const file = await open('gateway.json', text);
        equal((await change('PATCH', { timeout: '4s' }, merge)).status, 409);
        equal(readFileSync(file, 'utf8'), text);
      } finally {
        restore();
      }
    });
  });
});
