import { deepEqual, equal } from 'node:assert/strict';
import type { Data } from '#contract';
import { Schemas } from '../../../../plugins/documentation/openapi/export/schemas.ts';
import { configOf, describedAs, endpoint, OPENAPI, validate } from '../fixture.ts';

const in30 = (schema: unknown) => new Schemas('3.0', {}).add(schema as Data, 'Body');
const in31 = (schema: unknown) => new Schemas('3.1', {}).add(schema as Data, 'Body');

describe('a JSON Schema converted to OpenAPI 3.0', () => {
  for (const [sentence, written, expected] of [
    ['converts const to enum', { const: 1 }, { enum: [1] }],
    ['converts null to nullable', { type: ['string', 'null'] }, { type: 'string', nullable: true }],
    [
      'converts several types to anyOf',
      { type: ['string', 'array'] },
      { anyOf: [{ type: 'string' }, { type: 'array', items: {} }] },
    ],
    ['keeps the first example', { examples: ['a', 'b'] }, { example: 'a' }],
    ['drops $id and $schema', { $schema: 'x', $id: 'y', id: 'z', $comment: 'c', type: 'string' }, { type: 'string' }],
    ['converts exclusive bounds to flags', { exclusiveMinimum: 1, minimum: 0 }, { minimum: 1, exclusiveMinimum: true }],
    ['keeps the tighter bound', { exclusiveMaximum: 9, maximum: 5 }, { maximum: 5 }],
    [
      'converts tuple items to anyOf',
      { items: [{ type: 'string' }, true] },
      { items: { anyOf: [{ type: 'string' }, {}] } },
    ],
    [
      'converts true and false to objects',
      { properties: { a: true, b: false } },
      { properties: { a: {}, b: { not: {} } } },
    ],
    [
      'converts patternProperties to additionalProperties',
      { patternProperties: { '^x': { type: 'string' } }, additionalProperties: false },
      { additionalProperties: { type: 'string' } },
    ],
    ['drops unsupported keywords', { if: {}, else: {}, contains: {}, propertyNames: {}, 'x-own': 1 }, { 'x-own': 1 }],
    ['drops empty lists where OpenAPI forbids them', { required: [], enum: [] }, {}],
    [
      'treats a property named $ref as a property',
      { properties: { $ref: { const: 1 } } },
      { properties: { $ref: { enum: [1] } } },
    ],
    ['follows no references to other documents', { $ref: 'https://example.com/a.json' }, {}],
  ] as const) {
    it(sentence, () => deepEqual(in30(written), expected));
  }

  it('moves referenced schemas to named components, including circular ones', () => {
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

  it('shares a component with an equal schema of another body', () => {
    const schemas = new Schemas('3.0', {});
    const body = () => ({ $ref: '#/definitions/Id', definitions: { Id: { type: 'integer' } } });
    deepEqual(
      [schemas.add(body(), 'A'), schemas.add(body(), 'B')].map((each) => JSON.stringify(each)),
      ['{"$ref":"#/components/schemas/Id"}', '{"$ref":"#/components/schemas/Id"}'],
    );
    deepEqual(Object.keys(schemas.named), ['Id']);
  });

  it('can have properties with the names of Object.prototype members', () => {
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

describe('a JSON Schema converted to OpenAPI 3.1', () => {
  for (const [sentence, written, expected] of [
    [
      'converts nullable to a type',
      { type: 'string', nullable: true, enum: ['a'] },
      { type: ['string', 'null'], enum: ['a', null] },
    ],
    ['converts flags to exclusive bounds', { minimum: 1, exclusiveMinimum: true }, { exclusiveMinimum: 1 }],
    [
      'converts tuple items to prefixItems',
      { items: [true], additionalItems: false },
      { prefixItems: [true], items: false },
    ],
    ['keeps keywords that 3.0 does not support', { if: { const: 1 }, else: false }, { if: { const: 1 }, else: false }],
  ] as const) {
    it(sentence, () => deepEqual(in31(written), expected));
  }
});

describe('shared schemas of documentation/openapi', () => {
  const schemas = {
    User: { type: 'object', properties: { address: { $ref: '#/components/schemas/Address' } } },
    Address: Buffer.from('{"type":"object","properties":{"zip":{"const":1}}}').toString('base64'),
  };
  const config = configOf([endpoint('/a')], { extra_config: { [OPENAPI]: { components_schemas: schemas } } });

  it('appear in the document under their names, whether given as objects or in base64', async () => {
    const document = describedAs(config);
    deepEqual(document.components.schemas, {
      User: { type: 'object', properties: { address: { $ref: '#/components/schemas/Address' } } },
      Address: { type: 'object', properties: { zip: { enum: [1] } } },
    });
    await validate(document);
    await validate(describedAs(config, { version: '3.1' }));
  });
});
