import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, truncateSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import { createFolder, type Folder, sluice } from '../../../kernel/cli/command.ts';
import { imported, operation, spec } from './import-fixture.ts';

describe('sluice import openapi', () => {
  let folder: Folder;
  before(() => {
    folder = createFolder();
    mkdirSync(folder.path('inside'));
  });
  after(() => folder.remove());

  const base = ['--base-host', 'http://127.0.0.1:9'];
  /** A document in the folder `inside`. */
  const write = (name: string, content: unknown) => folder.write(`inside/${name}`, content);
  const importing = (...args: string[]) => sluice('import', 'openapi', ...base, '-o', '-', ...args);

  it('writes a valid configuration that can be served', async () => {
    const file = write(
      'good.yaml',
      'openapi: 3.1.0\ninfo: {title: t, version: "1"}\npaths:\n  /a:\n    get:\n      responses: {200: {description: OK}}\n',
    );
    const output = folder.path('gateway.json');
    deepEqual(await importing(file, '-o', output), { code: 0, out: '', err: `Wrote ${output}\n` });
    equal((await sluice('check', '-t', '-c', output)).code, 0);
  });

  it('is also available as "openapi import", merges several documents and writes YAML', async () => {
    const [one, other] = ['a', 'b'].map((name) => write(`${name}.json`, spec({ [`/${name}`]: { get: operation() } })));
    const { code, out } = await sluice('openapi', 'import', ...base, one!, other!, '--yaml', '-o', '-');
    equal(code, 0);
    match(out, /endpoint: \/a\n.*endpoint: \/b\n/s);
  });

  it('writes gateway.json by default and never overwrites a file', async () => {
    const file = write('a.json', spec({ '/a': { get: operation() } }));
    const home = process.cwd();
    process.chdir(dirname(file));
    try {
      const given = ['import', 'openapi', ...base, 'a.json'];
      deepEqual(await sluice(...given), { code: 0, out: '', err: 'Wrote gateway.json\n' });
      deepEqual(await sluice(...given, '--yaml'), { code: 0, out: '', err: 'Wrote gateway.yaml\n' });
      const again = await sluice(...given);
      deepEqual(again, { code: 1, out: '', err: 'ERROR gateway.json already exists: name the output file with -o\n' });
    } finally {
      process.chdir(home);
    }
  });

  it('extends an existing configuration file', async () => {
    const file = write('a.json', spec({ '/a': { get: operation() }, '/b': { get: operation() } }));
    const existing = folder.write('mine.json', {
      version: 3,
      endpoints: [{ endpoint: '/a', backend: [{ url_pattern: '/' }] }],
    });
    const { code, out, err } = await importing(file, '-c', existing);
    deepEqual([code, JSON.parse(out).endpoints.length], [0, 2]);
    match(err, /^WARNING .*skipped: the configuration already contains this endpoint\n$/);
    equal((await importing(file, '-c', file)).code, 1);
  });

  it('requires a document and an HTTP URL', async () => {
    equal((await importing()).code, 2);
    equal((await sluice('import', 'openapi', 'x.json', '--base-host', 'ftp://x')).code, 2);
  });

  for (const [sentence, content, message] of [
    ['broken JSON', '{"openapi":', /ERROR .*JSON/],
    ['broken YAML', 'openapi: [', /ERROR /],
    ['data that is not an object', '[]', /is not an object/],
    ['an object that is not an OpenAPI document', '{"a":1}', /is not a Swagger 2\.0, OpenAPI/],
    ['an unknown version', '{"openapi":"4.0.0"}', /is not a Swagger/],
    [
      'deep nesting',
      `{"openapi":"3.0.0","paths":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}`,
      /nested too deeply/,
    ],
    ['deep nesting in YAML', `openapi: 3.0.0\nx: ${'['.repeat(5000)}`, /nested deeper/],
    [
      'exponentially growing YAML aliases',
      `a: &a [x]\n${Array.from({ length: 30 }, (_, n) => `a${n}: &a${n} [${`*a${n ? n - 1 : ''},`.repeat(10)}]`).join('\n')}`,
      /aliases expand to too much data/,
    ],
  ] as const) {
    it(`rejects ${sentence}`, async () => {
      const { code, out, err } = await importing(write('bad.json', content));
      deepEqual([code, out], [1, '']);
      match(err, message);
    });
  }

  it('rejects a missing or oversized document', async () => {
    match((await importing('nowhere.json')).err, /cannot read nowhere\.json: ENOENT/);
    const file = write('large.json', '');
    truncateSync(file, 65 * 1024 * 1024);
    match((await importing(file)).err, /is larger than 67108864 bytes/);
  });

  it('reads referenced documents in the folder of the file, including circular references', async () => {
    write('schemas.json', {
      User: {
        type: 'object',
        properties: { self: { $ref: '#/User' }, back: { $ref: 'main.json#/components/schemas/Back' } },
      },
    });
    const file = write(
      'main.json',
      spec({ '/a': { $ref: './item.yaml' } }, { components: { schemas: { Back: { $ref: 'schemas.json#/User' } } } }),
    );
    write(
      'item.yaml',
      'get:\n  responses:\n    200:\n      description: OK\n      content:\n        application/json:\n          schema: {$ref: "schemas.json#/User"}\n',
    );
    const { code, out, err } = await importing(file);
    deepEqual([code, err], [0, '']);
    const { endpoints, extra_config: components } = JSON.parse(out);
    equal(endpoints[0].extra_config['documentation/openapi'].response_definition['200'].ref, 'User');
    deepEqual(components['documentation/openapi'].components_schemas, {
      User: {
        type: 'object',
        properties: { self: { $ref: '#/components/schemas/User' }, back: { $ref: '#/components/schemas/Back' } },
      },
      Back: { $ref: '#/components/schemas/User' },
    });
  });

  for (const [sentence, reference] of [
    ["files above the document's folder", '../secret.json'],
    ['anywhere', '/etc/hostname'],
    ['files through symbolic links', 'link.json'],
    ['URLs with other schemes', 'file:///etc/hostname'],
  ] as const) {
    it(`does not read ${sentence}`, async () => {
      folder.write('secret.json', { type: 'string' });
      try {
        symlinkSync(folder.path('secret.json'), folder.path('inside/link.json'));
      } catch {}
      const schema = { $ref: reference };
      const content = { 'application/json': { schema } };
      const file = write(
        'main.json',
        spec({ '/a': { get: operation({ responses: { 200: { description: 'OK', content } } }) } }),
      );
      const { code, err } = await importing(file);
      equal(code, 1);
      match(err, /which is (?:outside of the folder of the first document|not a file)/);
    });
  }

  describe('with referenced documents at URLs', () => {
    let address: string;
    let requested: string[];
    const server = createServer((request, response) => {
      requested.push(request.url!);
      if (request.url === '/endless') {
        response.writeHead(200);
        const chunk = Buffer.alloc(1024 * 1024, ' ');
        const more = () => {
          while (response.writable && response.write(chunk));
        };
        response.on('drain', more);
        return more();
      }
      if (request.url === '/broken') return void response.writeHead(500).end();
      response.end(JSON.stringify(request.url === '/user.json' ? { type: 'object' } : remote));
    });
    const content = { 'application/json': { schema: { $ref: 'user.json' } } };
    const remote = spec({ '/a': { get: operation({ responses: { 200: { description: 'OK', content } } }) } });

    before(async () => {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
    beforeEach(() => {
      requested = [];
    });
    after(async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    });

    it('does not fetch them by default', async () => {
      const file = write('main.json', spec({ '/a': { $ref: `${address}/item.json` } }));
      for (const target of [file, `${address}/main.json`]) {
        const { code, err } = await importing(target);
        equal(code, 1);
        match(err, /nothing is fetched without --remote/);
      }
      deepEqual(requested, []);
    });

    it('fetches them and their own references if enabled', async () => {
      const { code, out } = await importing(`${address}/main.json`, '--remote');
      deepEqual([code, requested], [0, ['/main.json', '/user.json']]);
      const { 'documentation/openapi': settings } = JSON.parse(out).endpoints[0].extra_config;
      deepEqual(
        JSON.parse(out).extra_config['documentation/openapi'].components_schemas[
          settings.response_definition['200'].ref
        ],
        { type: 'object' },
      );
    });

    it('never reads local files for a fetched document', async () => {
      const { code, err } = await importing(`${address}/broken`, '--remote');
      equal(code, 1);
      match(err, /cannot fetch .*answered 500/);
    });

    it('rejects an endless document', async () => {
      const { code, err } = await importing(`${address}/endless`, '--remote');
      equal(code, 1);
      match(err, /larger than 67108864 bytes/);
    }).timeout(20_000);
  });
});

describe('a hostile OpenAPI document', () => {
  it('can have circular references everywhere', () => {
    const { configuration } = imported(
      spec(
        {
          '/a': { get: { $ref: '#/paths/~1a/get' } },
          '/b': { $ref: '#/paths/~1b' },
          '/c': {
            get: operation({
              parameters: [{ $ref: '#/components/parameters/A' }],
              requestBody: { $ref: '#/components/requestBodies/A' },
              responses: {
                200: { $ref: '#/components/responses/A' },
                201: {
                  description: 'x',
                  content: { 'application/json': { schema: { $ref: '#/components/schemas/A' } } },
                },
              },
            }),
          },
        },
        {
          components: {
            parameters: { A: { $ref: '#/components/parameters/B' }, B: { $ref: '#/components/parameters/A' } },
            requestBodies: { A: { $ref: '#/components/requestBodies/A' } },
            responses: { A: { $ref: '#/components/responses/A' } },
            schemas: { A: { $ref: '#/components/schemas/A' } },
          },
        },
      ),
      { validate: true },
    );
    deepEqual(
      configuration.endpoints.map(({ endpoint }: { endpoint: string }) => endpoint),
      ['/c'],
    );
  });

  it('cannot modify an object prototype, regardless of member names', () => {
    const named =
      JSON.parse(`{"openapi":"3.0.0","info":{"title":"t"},"paths":{"/a":{"__proto__":{"polluted":1},"get":{"operationId":"__proto__","tags":["constructor"],
      "security":[{"__proto__":[]},{"toString":[]}],"parameters":[{"name":"__proto__","in":"query","schema":{"__proto__":{"x":1}}},{"name":"constructor","in":"path"}],
      "responses":{"__proto__":{"description":"x"},"200":{"description":"x","content":{"__proto__":{"schema":{"$ref":"#/components/schemas/__proto__"}}}}}}}},
      "components":{"schemas":{"__proto__":{"type":"object","properties":{"__proto__":{"$ref":"#/components/schemas/constructor"}}}},"securitySchemes":{"__proto__":{"type":"apiKey","in":"header","name":"X"}}}}`);
    const { configuration } = imported(named);
    deepEqual(configuration.endpoints[0].input_query_strings, ['__proto__']);
    equal(({} as Record<string, unknown>)['polluted'], undefined);
    equal(({} as Record<string, unknown>)['x'], undefined);
    ok(Object.hasOwn(configuration.extra_config['documentation/openapi'].components_schemas, '__proto__'));
  });

  it('can be malformed anywhere without crashing the import', () => {
    const wrong = [null, 1, 'x', [], [1], { a: 1 }, [{ $ref: 5 }], { $ref: '#/nowhere' }];
    for (const value of wrong) {
      const item = {
        get: {
          parameters: value,
          requestBody: value,
          responses: value,
          security: value,
          tags: value,
          operationId: value,
          servers: value,
        },
      };
      const document = spec(
        { '/a': item, '/b': { get: value }, '/c': value },
        { components: value, tags: value, servers: value, info: value },
      );
      ok(imported(document, { validate: true }).configuration.endpoints.length > 0);
      imported({
        swagger: '2.0',
        paths: { '/a': item },
        definitions: value,
        host: value,
        basePath: value,
        schemes: value,
        securityDefinitions: value,
        produces: value,
      });
      imported({ openapi: '3.1.0', paths: value });
    }
  });

  it('can contain thousands of schemas that reference one another', () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 3000 }, (_, n) => [
        `S${n}`,
        {
          properties: {
            a: { $ref: `#/components/schemas/S${(n * 7) % 3000}` },
            b: { $ref: `#/components/schemas/S${(n + 1) % 300}` },
          },
        },
      ]),
    );
    const paths = Object.fromEntries(
      Object.keys(schemas).map((name) => [
        `/${name}`,
        {
          get: operation({
            responses: {
              200: {
                description: 'x',
                content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
              },
            },
          }),
        },
      ]),
    );
    const { configuration } = imported(spec(paths, { components: { schemas } }));
    equal(Object.keys(configuration.extra_config['documentation/openapi'].components_schemas).length, 3000);
  });
});
