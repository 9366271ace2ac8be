import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import type { Operations } from '#kernel';
import { createFolder, type Folder, sluice } from '../../../kernel/cli/command.ts';
import { startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';
import { validate } from '../fixture.ts';

const options: ts.CompilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  noPropertyAccessFromIndexSignature: true,
  verbatimModuleSyntax: true,
  erasableSyntaxOnly: true,
  allowImportingTsExtensions: true,
  skipDefaultLibCheck: true,
  noEmit: true,
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  types: [],
};

const host = ts.createCompilerHost(options);
const parse = host.getSourceFile;
/** The types of the browser, which are parsed once. */
const libraries = new Map<string, ts.SourceFile | undefined>();
host.getSourceFile = (name, ...rest) => {
  if (!name.includes('/lib.')) return parse(name, ...rest);
  if (!libraries.has(name)) libraries.set(name, parse(name, ...rest));
  return libraries.get(name);
};

/** Compiles modules with strict settings and the types of a browser. @returns the errors, each after its line. */
function errorsOf(files: readonly string[]): string[] {
  const diagnostics = ts.getPreEmitDiagnostics(ts.createProgram([...files], options, host));
  return diagnostics.map(({ messageText, start, file }) => {
    const line = file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line + 1 : 0;
    return `${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
}

const string = { type: 'string' };
const object = (properties: object, required: readonly string[] = Object.keys(properties).sort()) => ({
  type: 'object',
  properties,
  required,
});

describe('sluice client', function () {
  // The time limit is raised, because a compilation takes seconds on a busy machine.
  this.timeout(120_000);
  let folder: Folder;
  let contracts: Folder;
  let backend: TestBackend;
  let gateway: Operations | null = null;
  before(async () => {
    backend = await startBackend(({ method, target, body }, response) => {
      const missing = target.startsWith('/users/404');
      response.writeHead(missing ? 404 : 200, { 'Content-Type': 'application/json' });
      response.end(missing ? '' : JSON.stringify({ id: 7, method, target, body: body.toString() }));
    });
  });
  after(() => backend.close());
  beforeEach(() => {
    folder = createFolder();
    contracts = createFolder();
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = null;
    folder.remove();
    contracts.remove();
  });

  const endpoint = (path: string, more: object = {}, call: object = {}) => ({
    endpoint: path,
    backend: [
      {
        host: [backend.url],
        url_pattern: path,
        extra_config: { 'backend/http': { return_error_code: true } },
        ...call,
      },
    ],
    ...more,
  });
  const config = (endpoints: readonly object[]) => ({ version: 3, name: 'Shop */ API', endpoints });
  const writeConfig = (source: object) => folder.write('gateway.json', source);
  const echoed = { id: { type: 'integer' }, method: string, target: string, body: string };
  const contract = (method: string, path: string, responses: object) =>
    contracts.write(`${method}${path.replace(/\W/g, '_')}.json`, { method, endpoint: path, responses });
  const json = (schema: object) => ({ content_type: 'application/json', samples: 9, schema });
  const write = async (file: string, ...args: string[]) => {
    const output = folder.path('client.ts');
    const ended = await sluice(
      'client',
      'typescript',
      '-c',
      file,
      '-o',
      output,
      '--contracts',
      contracts.path(''),
      ...args,
    );
    deepEqual([ended.code, ended.err], [0, `Wrote ${output}\n`]);
    return output;
  };

  const endpoints = () => [
    endpoint('/users/{user}', { input_query_strings: ['lang', 'page'], input_headers: ['X-Tenant'] }),
    endpoint(
      '/orders',
      {
        method: 'POST',
        extra_config: { 'validation/json-schema': object({ item: string, count: { type: 'integer' } }, ['item']) },
      },
      { method: 'POST' },
    ),
    endpoint('/search', { input_query_strings: ['*'] }),
    endpoint('/files/*', { output_encoding: 'no-op' }, { url_pattern: '/files' }),
    endpoint('/plain', { output_encoding: 'string' }),
  ];

  it('compiles under strict settings and calls a running gateway, with typed parameters, bodies and responses', async () => {
    const source = config(endpoints());
    const file = writeConfig(source);
    contract('GET', '/users/{id}', { 200: json(object(echoed)), 404: { samples: 3 } });
    contract('POST', '/orders', { 200: json(object(echoed)) });
    contract('GET', '/search', { 200: json(object(echoed)) });
    const output = await write(file);
    const use = folder.write(
      'use.ts',
      `import { createClient } from './client.ts';
export async function use(baseUrl: string) {
  const api = createClient({ baseUrl });
  const user = await api.getUsersUser({ path: { user: 'a b' }, query: { lang: 'en', page: 2 }, headers: { 'X-Tenant': 't' } });
  const id: number = user.status === 200 ? user.body.id : 0;
  const order = await api.postOrders({ body: { item: 'x', count: 2 } });
  const sent: string = order.body.body;
  const found = await api.getSearch({ query: { q: ['a', 'b'] } });
  const target: string = found.body.target;
  const missing = await api.getUsersUser({ path: { user: 404 } });
  return { id, user: user.status === 200 ? user.body.target : '', sent, target, missing: missing.status };
}
`,
    );
    deepEqual(errorsOf([output, use]), []);
    gateway = await startGateway({ ...source, port: 0 });
    const { port } = await gateway.listen();
    const { use: run } = await import(pathToFileURL(use).href);
    deepEqual(await run(`http://127.0.0.1:${port}/`), {
      id: 7,
      user: '/users/a%20b?lang=en&page=2',
      sent: '{"item":"x","count":2}',
      target: '/search?q=a&q=b',
      missing: 404,
    });
  });

  it('rejects parameters and bodies of other types at compile time', async () => {
    const file = writeConfig(config(endpoints()));
    contract('GET', '/users/{user}', { 200: json(object(echoed)) });
    const output = await write(file);
    const lines = [
      'api.getUsersUser({ path: {} });',
      "api.getUsersUser({ path: { user: '1' }, query: { other: 'x' } });",
      'api.postOrders({ body: { count: 1 } });',
      "api.postOrders({ body: { item: 'x', count: 'many' } });",
      "api.getUsersUser({ path: { user: '1' } }).then(({ body }) => body.name);",
    ];
    const use = folder.write(
      'use.ts',
      `import { createClient } from './client.ts';\nconst api = createClient({ baseUrl: '' });\n${lines.join('\n')}\n`,
    );
    deepEqual(
      errorsOf([output, use]).map((error) => error.split(':')[0]),
      ['3', '4', '5', '6', '7'],
    );
  });

  it('throws an error for responses with a status that the contract does not contain, and for path parameters that are dot segments', async () => {
    const source = config(endpoints());
    const file = writeConfig(source);
    contract('GET', '/users/{user}', { 200: json(object(echoed)) });
    const { createClient } = await import(pathToFileURL(await write(file)).href);
    gateway = await startGateway({ ...source, port: 0 });
    const api = createClient({ baseUrl: `http://127.0.0.1:${(await gateway.listen()).port}` });
    await rejects(api.getUsersUser({ path: { user: '404' } }), (error: Error & { status: number }) => {
      match(error.message, /^GET \/users\/\{user\} returned the unexpected status 404$/);
      return error.name === 'UnexpectedResponse' && error.status === 404;
    });
    await rejects(api.getUsersUser({ path: { user: '..' } }), TypeError);
    await rejects(api.getFiles({ path: { wildcard: 'a/../b' } }), TypeError);
    const files = await api.getFiles({ path: { wildcard: 'a b/c.json' } });
    deepEqual([files.status, files.body.target], [200, '/files/a%20b/c.json']);
  });

  it('is valid TypeScript even if names, keys and texts are not identifiers', async () => {
    const hostile = object({ __proto__: string, 'a-b': string, "it's": string, '1': string }, ['a-b']);
    const parsed = JSON.parse(JSON.stringify(hostile).replace('"1":', '"__proto__":{"type":"string"},"1":'));
    const documented = (id: string, more: object = {}) => ({
      'documentation/openapi': { operation_id: id, description: 'Ends */ here\nand `there`', ...more },
    });
    const file = writeConfig(
      config([
        endpoint('/a-b/{x}', { extra_config: documented('then') }),
        endpoint('/a_b/{x}', { extra_config: documented('constructor') }),
        endpoint('/client', { extra_config: documented('1 Client') }),
        endpoint('/all', { method: 'ANY' }),
        endpoint('/error', {
          extra_config: documented('error', {
            response_definition: {
              200: { example_schema: { $ref: '#/definitions/Error', definitions: { Error: hostile } } },
            },
          }),
        }),
      ]),
    );
    contract('GET', '/client', { 200: json(parsed) });
    const output = await write(file);
    deepEqual(errorsOf([output]), []);
    const { createClient } = await import(pathToFileURL(output).href);
    const client = createClient({ baseUrl: '' });
    equal(client.then, undefined);
    deepEqual(
      Object.keys(client).sort(),
      ['_1Client', 'constructor2', 'deleteAll', 'error', 'getAll', 'patchAll', 'postAll', 'putAll', 'then2'].sort(),
    );
  });

  it('writes an OpenAPI 3.1 document with the schemas of contracts', async () => {
    const file = writeConfig(config(endpoints()));
    contract('GET', '/users/{user}', { 200: json(object(echoed)), 404: { samples: 1 } });
    const { code, out, err } = await sluice(
      'client',
      'openapi',
      '-c',
      file,
      '-o',
      '-',
      '--contracts',
      contracts.path(''),
    );
    deepEqual([code, err], [0, '']);
    const document = JSON.parse(out);
    equal(document.openapi, '3.1.0');
    const { responses } = document.paths['/users/{user}'].get;
    deepEqual(Object.keys(responses), ['200', '404', '500']);
    deepEqual(responses['200'].content, { 'application/json': { schema: object(echoed) } });
    equal(responses['404'].content, undefined);
    await validate(document);
  });

  it('rejects a folder of contracts that does not exist', async () => {
    const file = writeConfig(config(endpoints()));
    const args = ['-c', file, '-o', '-', '--contracts', folder.path('missing')];
    const { code, out, err } = await sluice('client', 'typescript', ...args);
    deepEqual([code, out], [1, '']);
    match(err, /^ERROR cannot read .*missing: no such file$/m);
  });
});
