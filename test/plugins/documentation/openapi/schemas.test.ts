import { deepEqual, equal } from 'node:assert/strict';
import type { Data } from '#contract';
import { Schemas } from '../../../../plugins/documentation/openapi/export/schemas.ts';
import { configOf, describedAs, endpoint, OPENAPI, validate } from '../fixture.ts';

const in30 = (schema: unknown) => new Schemas('3.0', {}).add(schema as Data, 'Body');
const in31 = (schema: unknown) => new Schemas('3.1', {}).add(schema as Data, 'Body');

describe('a JSON Schema in a document of OpenAPI 3.0', () => {
  for (const [sentence, written, expected] of [
    ['says a constant as the only choice', { const: 1 }, { enum: [1] }],
    ['says null as nullable', { type: ['string', 'null'] }, { type: 'string', nullable: true }],
    [
      'says several types as a choice',
      { type: ['string', 'array'] },
      { anyOf: [{ type: 'string' }, { type: 'array', items: {} }] },
    ],
    ['keeps the first example', { examples: ['a', 'b'] }, { example: 'a' }],
    [
      'drops what only names the schema',
      { $schema: 'x', $id: 'y', id: 'z', $comment: 'c', type: 'string' },
      { type: 'string' },
    ],
    ['says exclusive bounds as flags', { exclusiveMinimum: 1, minimum: 0 }, { minimum: 1, exclusiveMinimum: true }],
    ['keeps the bound that is tighter', { exclusiveMaximum: 9, maximum: 5 }, { maximum: 5 }],
    [
      'says a row of items as a choice',
      { items: [{ type: 'string' }, true] },
      { items: { anyOf: [{ type: 'string' }, {}] } },
    ],
    [
      'says true and false as objects',
      { properties: { a: true, b: false } },
      { properties: { a: {}, b: { not: {} } } },
    ],
    [
      'says keys by pattern as further keys',
      { patternProperties: { '^x': { type: 'string' } }, additionalProperties: false },
      { additionalProperties: { type: 'string' } },
    ],
    [
      'drops keywords that there are not',
      { if: {}, else: {}, contains: {}, propertyNames: {}, 'x-own': 1 },
      { 'x-own': 1 },
    ],
    ['drops lists that must not be empty', { required: [], enum: [] }, {}],
    [
      'takes a property named $ref for one',
      { properties: { $ref: { const: 1 } } },
      { properties: { $ref: { enum: [1] } } },
    ],
    ['follows nothing to other documents', { $ref: 'https://example.com/a.json' }, {}],
  ] as const) {
    it(sentence, () => deepEqual(in30(written), expected));
  }

  it('puts what it refers to under names of their own, circles too', () => {
    const schemas = new Schemas('3.0', { Node: { type: 'string' } });
    const tree = {
      $ref: '#/definitions/Node',
      definitions: {
        Node: { type: 'object', properties: { next: { $ref: '#/definitions/Node' }, all: { $ref: '#' } } },
      },
    };
    const reference = schemas.add(tree, 'Tree');
    deepEqual(reference, { $ref: '#/components/schemas/Node_2' });
    deepEqual(schemas.named, {
      Node: { type: 'string' },
      Node_2: {
        type: 'object',
        properties: { next: { $ref: '#/components/schemas/Node_2' }, all: { $ref: '#/components/schemas/Tree' } },
      },
      Tree: { $ref: '#/components/schemas/Node_2' },
    });
  });

  it('shares a name with the same schema of another body', () => {
    const schemas = new Schemas('3.0', {});
    const body = () => ({ $ref: '#/definitions/Id', definitions: { Id: { type: 'integer' } } });
    deepEqual(
      [schemas.add(body(), 'A'), schemas.add(body(), 'B')].map((each) => JSON.stringify(each)),
      ['{"$ref":"#/components/schemas/Id"}', '{"$ref":"#/components/schemas/Id"}'],
    );
    deepEqual(Object.keys(schemas.named), ['Id']);
  });

  it('may have properties that are called as what every object has', () => {
    const schema = JSON.parse(
      '{"properties":{"__proto__":{"const":1},"constructor":{"$ref":"#/definitions/__proto__"}},"definitions":{"__proto__":{"type":"string"}}}',
    );
    const schemas = new Schemas('3.0', {});
    equal(
      JSON.stringify(schemas.add(schema, 'A')),
      '{"properties":{"__proto__":{"enum":[1]},"constructor":{"$ref":"#/components/schemas/__proto__"}}}',
    );
    equal(JSON.stringify(schemas.named), '{"__proto__":{"type":"string"}}');
    equal(({} as Record<string, unknown>)['type'], undefined);
  });
});

describe('a JSON Schema in a document of OpenAPI 3.1', () => {
  for (const [sentence, written, expected] of [
    [
      'says nullable as a type',
      { type: 'string', nullable: true, enum: ['a'] },
      { type: ['string', 'null'], enum: ['a', null] },
    ],
    ['says flags as exclusive bounds', { minimum: 1, exclusiveMinimum: true }, { exclusiveMinimum: 1 }],
    ['says a row of items as such', { items: [true], additionalItems: false }, { prefixItems: [true], items: false }],
    ['keeps what 3.0 has no word for', { if: { const: 1 }, else: false }, { if: { const: 1 }, else: false }],
  ] as const) {
    it(sentence, () => deepEqual(in31(written), expected));
  }
});

describe('the schemas of a service', () => {
  const schemas = {
    User: { type: 'object', properties: { address: { $ref: '#/components/schemas/Address' } } },
    Address: Buffer.from('{"type":"object","properties":{"zip":{"const":1}}}').toString('base64'),
  };
  const config = configOf([endpoint('/a')], { extra_config: { [OPENAPI]: { components_schemas: schemas } } });

  it('appear in the document by name, objects or base64', async () => {
    const document = describedAs(config);
    deepEqual(document.components.schemas, {
      User: { type: 'object', properties: { address: { $ref: '#/components/schemas/Address' } } },
      Address: { type: 'object', properties: { zip: { enum: [1] } } },
    });
    await validate(document);
    await validate(describedAs(config, { version: '3.1' }));
  });
});
