import { deepEqual, equal, ok, rejects, throws } from 'node:assert/strict';
import { Readable } from 'node:stream';
import { type Call, type DataObject, HeaderBag, PipeRequest, Query, Reply, RequestBody } from '#contract';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { openHarness } from '../../../kernel/testing/index.ts';
import { plugin } from '../../../plugins/validation/json-schema/index.ts';
import { compileValidator } from '../../../plugins/validation/json-schema/validator.ts';
import { site } from './json-schema.ts';

const person = {
  type: 'object',
  required: ['name', 'age'],
  properties: {
    name: { type: 'string', minLength: 2 },
    age: { type: 'integer', minimum: 18 },
    tags: { type: 'array', items: { type: 'string' } },
  },
  additionalProperties: false,
};

async function send(schema: object, body: string | Uint8Array | undefined, method = 'POST') {
  let passed: string | null = null;
  const gate = await openHarness(plugin, 'endpoint', schema, {
    next: async (request) => {
      passed = Buffer.from(await request.body!.bytes()).toString('latin1');
      return Reply.data({ ok: true });
    },
  });
  const reply = await gate.send({ method, ...(body !== undefined && { body }) });
  deepEqual(await gate.close(), { kept: 0, deferred: 0 });
  return { reply, passed: passed as string | null, text: reply.errors.map((error) => error.message).join('|') };
}

async function faultsOf(schema: unknown): Promise<string[]> {
  let results: string[] = [];
  await rejects(openHarness(plugin, 'endpoint', schema), (error) => {
    ok(error instanceof ConfigErrors);
    results = error.errors.map(({ code, pointer }) => `${code} ${pointer}`);
    return true;
  });
  return results;
}

describe('validation/json-schema', () => {
  it('accepts schemas of any size, and rejects those nested too deeply', async () => {
    const names = Array.from({ length: 4000 }, (_, at) => `k${at}`);
    const text = { type: 'string' };
    const wide = { properties: Object.fromEntries(names.map((name) => [name, text])) };
    equal((await send(wide, '{"k3999":"x"}')).reply.status, 200);
    equal((await send(wide, '{"k3999":1}')).text, '- k3999: Invalid type. Expected: string, given: integer');
    const long = { allOf: names.map((name) => ({ properties: { [name]: text } })) };
    equal((await send(long, '{"k3999":1}')).reply.status, 400);
    let deep: DataObject = text;
    for (let at = 0; at < 100_000; at++) deep = { items: deep };
    throws(() => compileValidator(deep, site), { code: 'JSON_SCHEMA_DEPTH' });
  });

  it('accepts a valid body and forwards the same bytes to the backend', async () => {
    const body = ' {"name":"Ann",\n "age":20.0}\n';
    const { reply, passed } = await send(person, body);
    equal(reply.status, 200);
    equal(passed, body);
  });

  const refused: [body: string, lines: string][] = [
    ['{}', '- (root): name is required\n- (root): age is required'],
    ['{"name":"A","age":20}', '- name: String length must be greater than or equal to 2'],
    ['{"name":"Ann","age":"x"}', '- age: Invalid type. Expected: integer, given: string'],
    ['{"name":"Ann","age":17}', '- age: Must be greater than or equal to 18'],
    ['{"name":"Ann","age":20,"x":1}', '- (root): Additional property x is not allowed'],
    ['{"name":"Ann","age":20,"tags":["a",3]}', '- tags.1: Invalid type. Expected: string, given: integer'],
    ['[]', '- (root): Invalid type. Expected: object, given: array'],
    ['', 'could not validate an empty body'],
  ];
  for (const [body, lines] of refused) {
    it(`rejects ${body || 'an empty body'} with 400 and the reason`, async () => {
      const { reply, passed, text } = await send(person, body);
      equal(reply.status, 400);
      equal(passed, null);
      equal(text, lines);
    });
  }

  it('returns the reason only if return_error_msg is set', async () => {
    const { reply } = await send(person, '{}');
    equal(reply.body, null);
    equal(reply.data, null);
    equal(reply.errors[0]!.view.body, undefined);
  });

  it('marks a rejection as incomplete', async () => {
    equal((await send(person, '{}')).reply.complete, false);
  });

  it('rejects a request without a body, for any method', async () => {
    const { reply, text } = await send({}, undefined, 'GET');
    equal(reply.status, 400);
    equal(text, 'could not validate an empty body');
  });

  it('rejects invalid JSON with the parse error, for any content type', async () => {
    const { reply, text } = await send({}, 'name=Ann');
    equal(reply.status, 400);
    ok(text.includes('is not valid JSON'), text);
  });

  it('rejects characters after the JSON value', async () => {
    equal((await send({}, '{} {}')).reply.status, 400);
  });

  it('rejects excessive nesting with 400', async () => {
    const recursive = { type: 'array', items: { $ref: '#' } };
    const deep = '['.repeat(200_000) + ']'.repeat(200_000);
    const { reply, text } = await send(recursive, deep);
    equal(reply.status, 400);
    equal(text, 'the body is nested too deeply');
  });

  it('reads a body that is still arriving', async () => {
    const gate = await openHarness(plugin, 'endpoint', person);
    const body = RequestBody.stream(Readable.from([Buffer.from('{"na'), Buffer.from('me":1,"age":18}')]), undefined);
    const request = new PipeRequest({} as never, {}, new Query(), new HeaderBag(), body);
    const reply = await gate.attached.proxy!(() => Reply.data({}))(request, {} as Call);
    equal(reply.errors[0]!.message, '- name: Invalid type. Expected: string, given: integer');
    await gate.close();
  });

  it('returns 413 if the body is too large', async () => {
    const gate = await openHarness(plugin, 'endpoint', person);
    const body = RequestBody.stream(Readable.from([Buffer.from('{"name":"Ann"}')]), undefined, 4);
    const request = new PipeRequest({} as never, {}, new Query(), new HeaderBag(), body);
    equal((await gate.attached.proxy!(() => Reply.data({}))(request, {} as Call)).status, 413);
    await gate.close();
  });

  it('checks own properties only, including names such as __proto__', async () => {
    const schema = { required: ['constructor', '__proto__'] };
    equal((await send(schema, '{}')).text, '- (root): constructor is required\n- (root): __proto__ is required');
    equal((await send(schema, '{"__proto__":1,"constructor":2}')).reply.status, 200);
    const closed = JSON.parse('{"properties":{"__proto__":{"type":"string"}},"additionalProperties":false}');
    equal((await send(closed, '{"__proto__":1}')).text, '- __proto__: Invalid type. Expected: string, given: integer');
    equal((await send({ const: {} }, '{"valueOf":1}')).text, '- (root): (root) does not match: {}');
  });

  it('applies a changed schema on a reload', async () => {
    const gate = await openHarness(plugin, 'endpoint', person);
    equal((await gate.send({ method: 'POST', body: '{}' })).status, 400);
    await gate.reload({ type: 'object' });
    equal((await gate.send({ method: 'POST', body: '{}' })).status, 200);
    await gate.close();
  });

  it('finds duplicates among fifty thousand items in linear time', async () => {
    const items = Array.from({ length: 50_000 }, (_, index) => `{"id":${index}}`);
    items.push('{"id":0.0}');
    const { text } = await send({ uniqueItems: true }, `[${items.join()}]`);
    equal(text, '- (root): array items[0,50000] must be unique');
  });

  it('does not take exponential time for a recursive schema', async () => {
    const alternatives = [1, 2, 3, 4].map((id) => ({ properties: { next: { $ref: '#' }, id: { const: id } } }));
    const { reply } = await send({ oneOf: alternatives }, '{"next":'.repeat(40) + '{"id":9}' + '}'.repeat(40));
    equal(reply.status, 400);
  });

  it('takes linear time for patterns that cause catastrophic backtracking in other engines', async () => {
    const { text } = await send({ pattern: '^(\\w+\\s?)*$' }, JSON.stringify(`${'a'.repeat(100_000)}!`));
    equal(text, "- (root): Does not match pattern '^(\\w+\\s?)*$'");
    const { reply } = await send(
      { patternProperties: { '^(a+)+$': { type: 'string' } } },
      JSON.stringify({ [`${'a'.repeat(100_000)}!`]: 1 }),
    );
    equal(reply.status, 200);
  });

  it('rejects a body with a string too long for its pattern, even under "not"', async () => {
    for (const pattern of [{ pattern: '(a|b)*a(a|b){500}$' }, { not: { pattern: '(a|b)*a(a|b){500}$' } }]) {
      const { reply, text } = await send(pattern, JSON.stringify('ab'.repeat(10_000)));
      equal(reply.status, 400);
      equal(text, "a text is too long to be matched against the pattern '(a|b)*a(a|b){500}$'");
    }
  });

  it('limits the error text for a body with many violations', async () => {
    const { text } = await send({ items: { type: 'string' } }, `[${'1,'.repeat(100_000)}1]`);
    ok(text.length < 2 * 1024 * 1024);
    ok(text.endsWith('\n- (root): More violations are not listed'));
  });

  it('rejects a configuration that is not an object', async () => {
    deepEqual(await faultsOf(true), ['SCHEMA_TYPE ']);
  });

  const issues: [what: string, schema: object, fault: string][] = [
    ['an unknown type', { properties: { a: { type: 'strin' } } }, 'JSON_SCHEMA_INVALID /properties/a/type'],
    ['a limit that is not a number', { items: { minimum: 'x' } }, 'JSON_SCHEMA_INVALID /items/minimum'],
    ['a broken pattern', { properties: { 'a/b': { pattern: '(' } } }, 'PATTERN_INVALID /properties/a~1b/pattern'],
    ['a broken property pattern', { patternProperties: { '[': {} } }, 'PATTERN_INVALID /patternProperties/['],
    ['a pattern of another dialect', { items: { pattern: '^(?!a)' } }, 'PATTERN_INVALID /items/pattern'],
    ['a remote reference', { items: { $ref: 'http://x.test/a.json' } }, 'JSON_SCHEMA_REFERENCE /items/$ref'],
    ['a dangling reference', { $ref: '#/definitions/a' }, 'JSON_SCHEMA_REFERENCE /$ref'],
    ['a reference to itself', { allOf: [{ $ref: '#' }] }, 'JSON_SCHEMA_ENDLESS '],
    ['an unknown draft', { $schema: 'https://json-schema.org/draft/next/schema' }, 'JSON_SCHEMA_DRAFT /$schema'],
    ['a reference to a value that is not a schema', { $ref: '#/title', title: 'x' }, 'JSON_SCHEMA_INVALID /title'],
  ];
  for (const [what, schema, fault] of issues) {
    it(`rejects a schema with ${what}`, async () => deepEqual(await faultsOf(schema), [fault]));
  }
});
