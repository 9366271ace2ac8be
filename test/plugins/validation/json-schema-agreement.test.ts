// biome-ignore-all lint/suspicious/noThenProperty: it is a keyword of the schemas.
import { equal } from 'node:assert/strict';
import { Ajv, type Options } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Data, DataObject } from '#contract';
import { compileProof, isProvable } from '../../../plugins/validation/json-schema/compiled.ts';
import { examine } from '../../../plugins/validation/json-schema/evaluate.ts';
import { readSchema } from '../../../plugins/validation/json-schema/read.ts';
import { reachable } from '../../../plugins/validation/json-schema/validator.ts';
import { type Chance, chanceFrom } from '../../support/chance.ts';
import { site } from './json-schema.ts';

const keys = ['a', 'b', 'c', 'd'];
const types = ['null', 'boolean', 'object', 'array', 'number', 'integer', 'string'];

function anyDocument(chance: Chance, depth: number): Data {
  const scalars = [null, true, false, 0, 1, 2, 3, -1.5, 4, '', 'a', 'ab', 'abc', '😀'];
  if (depth === 0 || chance.below(3) === 0) return chance.pick(scalars);
  const length = chance.below(4);
  if (chance.below(2)) return Array.from({ length }, () => anyDocument(chance, depth - 1));
  return Object.fromEntries(Array.from({ length }, () => [chance.pick(keys), anyDocument(chance, depth - 1)]));
}

type Draft = 'draft-07' | '2019-09' | '2020-12';

function anySchema(chance: Chance, depth: number, draft: Draft): Data {
  if (chance.below(12) === 0) return chance.below(3) > 0;
  const inner = () => anySchema(chance, depth - 1, draft);
  const list = () => Array.from({ length: 1 + chance.below(3) }, inner);
  const names = () => keys.filter(() => chance.below(4) === 0);
  const map = () => Object.fromEntries(names().map((key) => [key, inner()]));
  const simple: Record<string, () => Data> = {
    type: () => chance.pick(types),
    enum: () => chance.pick([[1, { a: 1 }], ['a', null, [0]], [anyDocument(chance, 1)]]),
    const: () => anyDocument(chance, 1),
    minimum: () => chance.below(4),
    maximum: () => chance.below(4),
    exclusiveMinimum: () => chance.below(3),
    exclusiveMaximum: () => chance.below(4),
    multipleOf: () => chance.pick([1, 2, 0.5]),
    minLength: () => chance.below(3),
    maxLength: () => chance.below(3),
    pattern: () => chance.pick(['^a', 'b$', '.']),
    minItems: () => chance.below(3),
    maxItems: () => chance.below(3),
    uniqueItems: () => true,
    minProperties: () => chance.below(3),
    maxProperties: () => chance.below(3),
    required: names,
    format: () => 'no-such-format',
  };
  const deep: Record<string, () => Data> = {
    properties: map,
    patternProperties: () => ({ [chance.pick(['^a', '.'])]: inner() }),
    additionalProperties: inner,
    propertyNames: inner,
    items: () => (chance.below(2) ? inner() : list()),
    additionalItems: inner,
    contains: inner,
    anyOf: list,
    oneOf: list,
    allOf: list,
    not: inner,
    if: inner,
    then: inner,
    else: inner,
    dependencies: () => ({ a: names(), b: inner() }),
    $ref: () => chance.pick(['#/definitions/x', '#/definitions/y']),
    ...(draft === 'draft-07'
      ? {}
      : {
          unevaluatedProperties: inner,
          unevaluatedItems: inner,
          dependentSchemas: () => ({ a: inner() }),
          dependentRequired: () => ({ b: names() }),
        }),
    ...(draft === '2020-12' ? { items: inner, prefixItems: list } : {}),
  };
  if (draft === '2020-12') delete deep['additionalItems'];
  // Omits `contains`, because the reference implementation counts matching items as evaluated in this draft, contrary
  // to the specification.
  if (draft === '2019-09') delete deep['contains'];
  const schema: DataObject = {};
  const choice = depth > 0 ? { ...simple, ...deep } : simple;
  for (let count = 1 + chance.below(3); count > 0; count -= 1) {
    const keyword = chance.pick(Object.keys(choice));
    if (keyword !== '$ref' || depth < 3) schema[keyword] = choice[keyword]!();
  }
  // Skipped, because the reference implementation accepts some empty arrays despite `contains`.
  if ('contains' in schema) schema['minItems'] = 1;
  if ('contains' in schema && draft !== 'draft-07' && chance.below(2)) schema['maxContains'] = 1 + chance.below(2);
  return '$ref' in schema && draft === 'draft-07' ? { $ref: schema['$ref']! } : schema;
}

const options: Options = {
  strict: false,
  allErrors: true,
  ownProperties: true,
  logger: false,
  formats: { 'no-such-format': true },
  meta: false,
  validateSchema: false,
};
/** The reference implementation of each draft. */
const published = {
  'draft-07': (schema: DataObject) => new Ajv(options).compile(schema),
  '2019-09': (schema: DataObject) => new Ajv2019(options).compile(schema),
  '2020-12': (schema: DataObject) => new Ajv2020(options).compile(schema),
};

/** Compares the results for random pairs of a schema and a document. */
function compare(draft: Draft, address: string | undefined): void {
  let valid = 0;
  let invalid = 0;
  let proofs = 0;
  for (let seed = 1; seed <= 400; seed += 1) {
    const chance = chanceFrom(seed);
    const definitions = { x: anySchema(chance, 0, draft), y: anySchema(chance, 0, draft) };
    const body = anySchema(chance, 3, draft);
    const schema = (typeof body === 'boolean' ? { not: !body } : body) as DataObject;
    schema['definitions'] = definitions;
    const validate = published[draft](schema);
    const root = readSchema(address === undefined ? schema : { $schema: address, ...schema }, site);
    const tracks = draft !== 'draft-07';
    const proof = reachable(root).every(isProvable) ? compileProof(root, schema, site) : null;
    for (let count = 0; count < 8; count += 1) {
      const document = anyDocument(chance, 3);
      const expected = validate(document);
      const reported = () => JSON.stringify({ seed, schema, document });
      equal(examine(root, document, { recursive: false, tracks }).count === 0, expected, reported());
      equal(examine(root, document, { recursive: true, tracks }).count === 0, expected, reported());
      if (proof) equal(proof(document), expected, reported());
      proofs += proof ? 1 : 0;
      if (expected) valid += 1;
      else invalid += 1;
    }
  }
  equal(Math.min(valid, invalid) > 600, true, `${valid} valid, ${invalid} invalid`);
  equal(proofs > 1500, true, `${proofs} by generated code`);
}

describe('the results of validation/json-schema', function () {
  this.timeout(120_000);

  it('agree with the reference implementation for thousands of random schemas and values', () =>
    compare('draft-07', undefined));

  for (const draft of ['2019-09', '2020-12'] as const) {
    it(`agree with the reference implementation of draft ${draft}`, () =>
      compare(draft, `https://json-schema.org/draft/${draft}/schema`));
  }
});
