import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';
import { type Catalogue, definePlugin } from '#contract';
import { toolServices } from '../../../kernel/cli/tools.ts';
import { type CompleteSchema, completeSchema } from '../../../kernel/pipeline/complete-schema.ts';
import { Registry } from '../../../kernel/registry/registry.ts';
import { examine } from '../../../kernel/runtime/build/build.ts';
import { version } from '../../../kernel/version.ts';
import { catalogue } from '../../../plugins/index.ts';
import { sluice } from './command.ts';

type Json = Record<string, unknown>;
type Fields = Record<string, Json>;

async function schemaOf(given: Catalogue): Promise<CompleteSchema> {
  const registry = new Registry(given, toolServices());
  const schema = await completeSchema(registry);
  await registry.close();
  return JSON.parse(JSON.stringify(schema));
}

/** Checks are generated without simplification, which takes longer than all calls of them together. */
const code = { optimize: false } as const;

/** Strictest mode: unknown keywords, loose types and undeclared required fields are rejected. */
function compile(schema: Json): ValidateFunction {
  return new Ajv({ strict: true, allErrors: true, code }).compile(schema);
}

/** Every schema inside a schema, with its place. */
function* inside(schema: unknown, path = ''): Generator<[string, Json]> {
  if (typeof schema !== 'object' || schema === null) return;
  if (!Array.isArray(schema)) yield [path, schema as Json];
  for (const [key, value] of Object.entries(schema)) {
    if (!['default', 'examples', 'enum', 'else', 'if', 'const'].includes(key)) yield* inside(value, `${path}/${key}`);
  }
}

/** Every field of every object, with its place. */
function fieldsOf(schema: Json): [string, Json][] {
  return [...inside(schema)].flatMap(([path, { type, properties }]) =>
    // A repeated name that only makes a field required is not a field.
    type === 'object' && properties && !path.includes('/allOf/')
      ? Object.entries(properties as Fields).map(([key, field]): [string, Json] => [`${path}/${key}`, field])
      : [],
  );
}

const root = (fields: Json): Json => ({ version: 3, endpoints: [], ...fields });
const endpoint = (fields: Json, root: Json = {}): Json => ({
  version: 3,
  ...root,
  endpoints: [{ endpoint: '/a', backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }], ...fields }],
});
const backend = (fields: Json, root: Json = {}): Json =>
  endpoint({ backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/', ...fields }] }, root);
const breaker = { interval: 1, timeout: 1, max_errors: 1 };

describe('the schema of the configuration', function () {
  this.timeout(180_000);
  let schema: CompleteSchema;
  let validate: ValidateFunction;
  const accepts = (document: unknown) => ok(validate(document), JSON.stringify(validate.errors, null, 1));

  before(async () => {
    schema = await schemaOf(catalogue);
    validate = compile(schema);
  });

  it('is valid JSON Schema draft 07', () => {
    equal(schema['$schema'], 'http://json-schema.org/draft-07/schema#');
    equal(new Ajv().validateSchema(schema), true);
  });

  it('has the version of the release in its $id', () => equal(schema.$id, `urn:sluice:schema:${version}`));

  it('contains only references to its own definitions', () => {
    const references = [...inside(schema)].flatMap(([, { $ref }]) => ($ref === undefined ? [] : [String($ref)]));
    ok(references.length > 0);
    for (const reference of references) ok(reference.slice('#/definitions/'.length) in schema.definitions, reference);
  });

  it('has a title and a description for every field', () => {
    const all = fieldsOf(schema).filter(([, field]) => field['$ref'] === undefined);
    ok(all.length > 100);
    deepEqual(
      all.filter(([, { title, description }]) => !title || !description).map(([path]) => path),
      [],
    );
  });

  it('has a title, a description and an example for every component', () => {
    deepEqual(
      Object.entries(schema.definitions).filter(
        ([, { title, description, examples }]) => !title || !description || !examples,
      ),
      [],
    );
  });

  it('shows how durations are written', () => {
    const durations = fieldsOf(schema).filter(([, { description }]) => /Duration:/.test(String(description)));
    ok(durations.length > 10);
    deepEqual(
      durations.filter(([, field]) => !field['examples'] && field['default'] === undefined).map(([path]) => path),
      [],
    );
  });

  it('accepts all its defaults and examples', () => {
    const all = new Ajv({ strict: false, validateSchema: false, code }).addSchema(schema, 'whole');
    const checked = new Set<string>();
    for (const [path, inner] of inside(schema)) {
      // A field can also be named `examples`, so only a list is used.
      const examples = Array.isArray(inner['examples']) ? inner['examples'] : [];
      const given = [...examples, inner['default']];
      const shown = given.filter((value) => value !== undefined);
      const text = JSON.stringify(inner);
      // References begin at the root: equal schemas accept the same values everywhere.
      if (shown.length === 0 || path === '' || checked.has(text)) continue;
      checked.add(text);
      const check = all.compile({ $ref: `whole#${encodeURI(path)}` });
      for (const value of shown) ok(check(value), `${path}: ${JSON.stringify(value)}`);
    }
  });

  it('contains an example of a whole configuration that it accepts', () =>
    accepts((schema['examples'] as unknown[])[0]));

  it('contains every component at every level where it is allowed', async () => {
    for (const load of Object.values(catalogue.plugins)) {
      const { name, places = [] } = (await load()).plugin;
      for (const { at } of places) {
        const key = `${at}.${name.replaceAll('/', '.')}`;
        ok(key in schema.definitions, key);
        ok(JSON.stringify(schema).includes(`"${name}":{"$ref":"#/definitions/${key}"}`), `no field for ${key}`);
      }
    }
  });

  it('takes the names of encodings and discoveries from the plugins', async () => {
    const encoding = definePlugin({
      name: 'encoding/shout',
      description: 'Shouts.',
      encodings: [{ name: 'shout', encode: () => ({ contentType: 'text/plain', body: '!' }) }],
    });
    const discovery = definePlugin({
      name: 'discovery/guess',
      description: 'Guesses.',
      discoveries: [{ name: 'guess', open: () => ({ current: [] }) }],
    });
    const plugins = {
      ...catalogue.plugins,
      'encoding/shout': async () => ({ plugin: encoding }),
      'discovery/guess': async () => ({ plugin: discovery }),
    };
    const widened = compile(await schemaOf({ ...catalogue, plugins }));
    const shouting = endpoint({ output_encoding: 'shout' }, { output_encoding: 'shout' });
    equal(validate(shouting), false);
    ok(widened(shouting));
    ok(widened(backend({ sd: 'guess' })));
    equal(widened(backend({ encoding: 'shout' })), false, 'an encoding that cannot read');
  });

  // Files with plugins need a schema that includes the plugins.
  const samples = globSync('samples/**/gateway.json').filter((file) => !/samples\/(plugins|packages)\//.test(file));
  for (const file of samples) {
    it(`accepts ${file}`, () => accepts(JSON.parse(readFileSync(file, 'utf8'))));
  }

  for (const file of readdirSync('test/specs').filter((name) => name.endsWith('.json'))) {
    it(`accepts the good configurations of test/specs/${file}`, () => {
      const specs = JSON.parse(readFileSync(join('test/specs', file), 'utf8')) as {
        name: string;
        config?: { service?: Json; endpoint?: Json; backends?: Json[] };
        expect: { refused?: string[] };
      }[];
      for (const { name, config = {}, expect } of specs) {
        if (expect.refused) continue;
        const backends = (config.backends ?? [{}]).map((fields) => ({ url_pattern: '/', ...fields }));
        const document = root({
          ...config.service,
          endpoints: [{ endpoint: '/x', ...config.endpoint, backend: backends }],
        });
        ok(validate(document), `${name}: ${JSON.stringify(validate.errors)}`);
      }
    });
  }

  const good: Readonly<Record<string, Json>> = {
    'comments in every closed object': {
      ...backend({ '#': 1, extra_config: { _old: {}, 'qos/circuit-breaker': { ...breaker, $why: 'x' } } }),
      '@note': [],
    },
    'any key in a map': backend({ mapping: { _id: 'id', $x: 'y' } }),
    'a JSON Schema, whose $ keys are data': endpoint({
      extra_config: { 'validation/json-schema': { $schema: 'http://json-schema.org/draft-07/schema#', whatever: 1 } },
    }),
    'old names of fields in version 2': {
      ...endpoint({ headers_to_pass: ['A'], querystring_params: ['b'] }),
      version: 2,
    },
    'old names of backend fields in version 2': { ...backend({ whitelist: ['a'], denylist: ['b'] }), version: 2 },
    'old names of component fields in version 2, required ones too': {
      ...backend({ extra_config: { 'qos/circuit-breaker': { interval: 1, timeout: 1, maxErrors: 1 } } }),
      version: 2,
    },
    'old names of components': backend({
      extra_config: { 'github.com/devopsfaith/krakend-circuitbreaker/gobreaker': breaker },
    }),
    'old names with the prefix github.com/': root({
      extra_config: { 'github_com/devopsfaith/krakend-httpsecure': { frame_deny: true } },
    }),
    'unsupported fields with the value that is equivalent to omitting them': root({
      async_agent: [],
      expect_continue_timeout: '0s',
    }),
  };
  for (const [what, document] of Object.entries(good)) {
    it(`accepts ${what}, like check`, async () => {
      accepts(document);
      deepEqual(await issues(document), []);
    });
  }

  const bad: Readonly<Record<string, Json>> = {
    'an unknown key at the root': root({ tiemout: '2s' }),
    'an unknown key of an endpoint': endpoint({ ednpoint: '/' }),
    'an unknown key of a backend': backend({ hots: [] }),
    'an unknown key of TLS': root({ client_tls: { min_verison: 'TLS12' } }),
    'an unknown key of the router': root({ extra_config: { router: { return_error: true } } }),
    'an unknown key of a component': endpoint({ extra_config: { 'qos/ratelimit/router': { rate: 1 } } }),
    'an unknown key deep in a component': endpoint({ extra_config: { proxy: { flatmap_filter: [{ do: 'del' }] } } }),
    'an unknown component': endpoint({ extra_config: { 'qos/ratelimit/ruoter': {} } }),
    'a component at another level': root({ extra_config: { 'qos/circuit-breaker': breaker } }),
    'a component that is not an object': endpoint({ extra_config: { 'validation/json-schema': true } }),
    'a missing field': backend({ extra_config: { 'qos/circuit-breaker': { interval: 1, timeout: 1 } } }),
    'a number in place of a duration': root({ timeout: 2 }),
    'a duration without a unit': root({ timeout: '2' }),
    'a string in place of a number': root({ port: '8080' }),
    'a port out of range': root({ port: 65536 }),
    'a list in place of a string': backend({ group: ['a'] }),
    'a duplicate header': endpoint({ input_headers: ['A', 'A'] }),
    'an endpoint without backends': endpoint({ backend: [] }),
    'an unknown method': endpoint({ method: 'FETCH' }),
    'an unknown output': endpoint({ output_encoding: 'jsn' }),
    'an output that cannot be written': endpoint({ output_encoding: 'rss' }),
    'an encoding that cannot be read': backend({ encoding: 'negotiate' }),
    'an unknown discovery': backend({ sd: 'consul' }),
    'an unknown choice of a component': endpoint({ extra_config: { proxy: { combiner: 'best' } } }),
    'an unknown version of TLS': root({ client_tls: { min_version: 'TLS14' } }),
    'version 1': { version: 1, endpoints: [] },
    'a configuration without a version': { endpoints: [] },
    'names of version 2 in version 3': endpoint({ headers_to_pass: ['A'] }),
    'names of version 2 in a backend of version 3': backend({ whitelist: ['a'] }),
    'names of version 2 in a component of version 3': backend({
      extra_config: { 'qos/circuit-breaker': { interval: 1, timeout: 1, maxErrors: 1 } },
    }),
    'names of version 2 under an old name in version 3': backend({
      extra_config: {
        'github.com/devopsfaith/krakend-circuitbreaker/gobreaker': { ...breaker, logStatusChange: true },
      },
    }),
    'a field that is not supported yet': root({ expect_continue_timeout: '1s' }),
  };
  for (const [what, document] of Object.entries(bad)) {
    it(`rejects ${what}, like check`, async () => {
      equal(validate(document), false);
      ok((await issues(document)).length > 0, 'check accepts it');
    });
  }

  it('rejects an unknown key in every component', () => {
    for (const [key, definition] of Object.entries(schema.definitions)) {
      // In a component of modules, other keys are the names of modules.
      if (definition['properties'] === undefined || key.includes('.plugin.')) continue;
      const check = new Ajv({ strict: false, allErrors: true, validateSchema: false }).compile({
        ...definition,
        definitions: schema.definitions,
      });
      check({ 'no such key': 1 });
      ok(
        check.errors?.some(({ keyword }) => keyword === 'additionalProperties'),
        key,
      );
    }
  });

  it('marks every old name as deprecated and names the current one', () => {
    // In telemetry/newrelic, this is the current name.
    const fields = fieldsOf(schema).filter(
      ([path]) => /\/(headers_to_pass|whitelist|maxRate|maxErrors)$/.test(path) && !path.includes('newrelic'),
    );
    ok(fields.length > 4);
    for (const [path, { deprecated, description }] of fields) {
      equal(deprecated, true, path);
      match(String(description), /^Former name of "(input_headers|allow|max_rate|max_errors)"/);
    }
    const [, old] = [...inside(schema)].find(([path]) => path.includes('krakend-httpsecure$'))!;
    equal(old['deprecated'], true);
    equal(old['description'], 'Former name of "security/http".');
  });
});

/** Result of `check` for the document. */
async function issues(document: unknown): Promise<string[]> {
  const registry = new Registry(catalogue, toolServices());
  const { errors } = await examine(document, {}, registry, false);
  await registry.close();
  return errors.map(({ code, pointer }) => `${code} ${pointer}`);
}

describe('the command sluice schema', function () {
  this.timeout(180_000);
  let printed: string;
  let folder: string;

  before(async () => {
    printed = (await sluice('schema')).out;
    folder = mkdtempSync(join(tmpdir(), 'sluice-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  it('prints the schema of the whole configuration in one line', async () => {
    deepEqual(JSON.parse(printed), await schemaOf(catalogue));
    equal(printed.trim().split('\n').length, 1);
  });

  it('prints the same with line breaks under --pretty', async () => {
    const { out } = await sluice('schema', '--pretty');
    deepEqual(JSON.parse(out), JSON.parse(printed));
    match(out, /^{\n {2}"\$schema"/);
  });

  it('prints the schema of one component', async () => {
    const one = JSON.parse((await sluice('schema', 'qos/ratelimit/router')).out);
    equal(one.$id, `urn:sluice:schema:${version}:qos/ratelimit/router`);
    const check = compile(one);
    ok(check({ max_rate: 1 }));
    equal(check({ max_rat: 1 }), false);
  });

  it('prints a component with the schemas of all its levels', async () => {
    const check = compile(JSON.parse((await sluice('schema', 'proxy')).out));
    ok(check({ sequential: true }));
    ok(check({ shadow: true }));
    equal(check({ sequential: true, shadow: true }), false);
  });

  it('suggests the nearest component for an unknown name', async () => {
    const { code, out, err } = await sluice('schema', 'security/htpp');
    equal(code, 2);
    equal(out, '');
    match(err, /unknown namespace "security\/htpp"; did you mean "security\/http"\?/);
  });

  it('accepts only one namespace', async () => equal((await sluice('schema', 'proxy', 'router')).code, 2));

  it('explains in its usage how editors find the schema', async () => {
    match((await sluice('help', 'schema')).out, /"\$schema": "\.\/sluice\.schema\.json"/);
  });

  it('prints a schema that a configuration in the same folder can refer to', async () => {
    writeFileSync(join(folder, 'sluice.schema.json'), printed);
    const sample = JSON.parse(readFileSync('samples/quickstart/gateway.json', 'utf8'));
    const named = { $schema: './sluice.schema.json', ...sample };
    const lint = (document: Json) => {
      const file = join(folder, 'gateway.json');
      writeFileSync(file, JSON.stringify(document));
      return sluice('check', '-s', resolve(folder, String(document['$schema'])), '-c', file);
    };
    equal((await lint(named)).code, 0);
    const refused = await lint({ ...named, timeout: '1.5.s' });
    equal(refused.code, 1);
    match(refused.err, /LINT/);
  });

  it('has patterns without lookaround, which validators of every language can read', () => {
    const { compile } = toolServices().patterns;
    const patterns = [...inside(JSON.parse(printed))].flatMap(([, { pattern, patternProperties }]) => [
      ...(typeof pattern === 'string' ? [pattern] : []),
      ...Object.keys(patternProperties ?? {}),
    ]);
    ok(patterns.length > 0);
    for (const pattern of patterns) compile(pattern);
  });

  describe('with another schema that check uses', () => {
    const lint = (schema: Json, document: Json = endpoint({})) => {
      writeFileSync(join(folder, 'own.json'), JSON.stringify(schema));
      writeFileSync(join(folder, 'gateway.json'), JSON.stringify(document));
      return sluice('check', '-s', join(folder, 'own.json'), '-c', join(folder, 'gateway.json'));
    };

    it('does not block on slow patterns', async () => {
      const name = `${'a'.repeat(60)}!`;
      const { err } = await lint({ properties: { name: { pattern: '^(\\w+\\s?)*$' } } }, endpoint({}, { name }));
      match(err, /LINT/);
      match(err, /must match pattern/);
    });

    it('rejects patterns that cannot be used, with the reason', async () => {
      const { code, err } = await lint({ properties: { name: { pattern: '^(?!internal)' } } });
      equal(code, 1);
      match(err, /pattern "\^\(\?!internal\)": lookahead \(\?! is not supported/);
      match(err, /two patterns/);
    });
  });
});
