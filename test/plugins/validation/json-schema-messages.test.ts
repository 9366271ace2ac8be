// biome-ignore-all lint/suspicious/noThenProperty: it is a keyword of the schemas.
import { equal } from 'node:assert/strict';
import { check } from './json-schema.ts';

/** Title, schema, document, lines. */
type Row = readonly [title: string, schema: object, document: string, lines: readonly string[]];

const rows: readonly Row[] = [
  [
    'several types',
    { type: ['string', 'null'] },
    '1',
    ['(root): Invalid type. Expected: [string,null], given: integer'],
  ],
  ['a fraction as number', { type: 'integer' }, '1.5', ['(root): Invalid type. Expected: integer, given: number']],
  ['null', { type: 'object' }, 'null', ['(root): Invalid type. Expected: object, given: null']],
  ['a boolean type', { type: 'object' }, 'true', ['(root): Invalid type. Expected: object, given: boolean']],
  ['an object type', { type: 'string' }, '{}', ['(root): Invalid type. Expected: string, given: object']],
  [
    'a missing property in a nested object',
    { properties: { a: { required: ['b'] } } },
    '{"a":{}}',
    ['a: b is required'],
  ],
  [
    'enum',
    { properties: { a: { enum: ['x', 1, null] } } },
    '{"a":2}',
    ['a: a must be one of the following: "x", 1, null'],
  ],
  ['enum at the root', { enum: [{ a: 1 }] }, '{}', ['(root): (root) must be one of the following: {"a":1}']],
  ['const', { properties: { a: { const: { k: [1] } } } }, '{"a":0}', ['a: a does not match: {"k":[1]}']],
  ['const null', { const: null }, '0', ['(root): (root) does not match: null']],
  ['minimum', { minimum: 2.5 }, '2', ['(root): Must be greater than or equal to 2.5']],
  ['maximum', { maximum: 2 }, '3', ['(root): Must be less than or equal to 2']],
  ['exclusiveMinimum', { exclusiveMinimum: 2 }, '2', ['(root): Must be greater than 2']],
  ['exclusiveMaximum', { exclusiveMaximum: 2 }, '2', ['(root): Must be less than 2']],
  ['exclusive limits of draft 04', { minimum: 2, exclusiveMinimum: true }, '2', ['(root): Must be greater than 2']],
  ['multipleOf', { multipleOf: 0.1 }, '0.35', ['(root): Must be a multiple of 0.1']],
  ['minLength', { minLength: 2 }, '"😀"', ['(root): String length must be greater than or equal to 2']],
  ['maxLength', { maxLength: 1 }, '"😀😀"', ['(root): String length must be less than or equal to 1']],
  ['pattern', { pattern: '^a+$' }, '"b"', ["(root): Does not match pattern '^a+$'"]],
  ['format', { format: 'ipv4' }, '"1.2.3.256"', ["(root): Does not match format 'ipv4'"]],
  ['minItems', { minItems: 2 }, '[1]', ['(root): Array must have at least 2 items']],
  ['maxItems', { maxItems: 1 }, '[1,2]', ['(root): Array must have at most 1 items']],
  [
    'uniqueItems, for each duplicate',
    { uniqueItems: true },
    '[{"a":1,"b":2},1,{"b":2,"a":1.0},1]',
    ['(root): array items[0,2] must be unique', '(root): array items[1,3] must be unique'],
  ],
  [
    'contains, with the lines of the closest item',
    { contains: { type: 'object', required: ['a', 'b'] } },
    '[1,{"a":1},{}]',
    ['(root): At least one of the items must match', '1: b is required'],
  ],
  ['contains on an empty array', { contains: {} }, '[]', ['(root): At least one of the items must match']],
  [
    'contains on an empty array if the schema also lists items',
    { items: [{ type: 'string' }], contains: {} },
    '[]',
    ['(root): At least one of the items must match'],
  ],
  [
    'contains on an empty array after a valid one',
    { items: { contains: { const: 1 } } },
    '[[1],[]]',
    ['1: At least one of the items must match'],
  ],
  [
    'additionalItems: false',
    { items: [{ type: 'string' }], additionalItems: false },
    '["a",1,2]',
    ['(root): No additional items allowed on array'],
  ],
  [
    'additionalItems with a schema',
    { items: [{}], additionalItems: { type: 'string' } },
    '[1,2]',
    ['1: Invalid type. Expected: string, given: integer'],
  ],
  ['minProperties', { minProperties: 1 }, '{}', ['(root): Must have at least 1 properties']],
  ['maxProperties', { maxProperties: 0 }, '{"a":1}', ['(root): Must have at most 0 properties']],
  [
    'propertyNames',
    { propertyNames: { maxLength: 1 } },
    '{"ab":1,"c":2}',
    ['(root): Property name of "ab" does not match', '(root): String length must be less than or equal to 1'],
  ],
  ['dependencies on a name', { dependencies: { a: ['b', 'c'] } }, '{"a":1,"b":1}', ['(root): Has a dependency on c']],
  ['dependencies on a schema', { dependencies: { a: { required: ['b'] } } }, '{"a":1}', ['(root): b is required']],
  [
    'anyOf, with the lines of the closest alternative',
    { anyOf: [{ type: 'string' }, { type: 'object', required: ['a'] }, { type: 'object', required: ['b', 'c'] }] },
    '{}',
    ['(root): Must validate at least one schema (anyOf)', '(root): a is required'],
  ],
  [
    'oneOf when none matches',
    { oneOf: [{ type: 'string' }, { minimum: 3 }] },
    '1',
    ['(root): Must validate one and only one schema (oneOf)', '(root): Must be greater than or equal to 3'],
  ],
  ['oneOf when several match', { oneOf: [{}, {}] }, '1', ['(root): Must validate one and only one schema (oneOf)']],
  [
    'allOf',
    { allOf: [{ minimum: 3 }, { multipleOf: 2 }, {}] },
    '1',
    [
      '(root): Must be greater than or equal to 3',
      '(root): Must be a multiple of 2',
      '(root): Must validate all the schemas (allOf)',
    ],
  ],
  ['not', { not: { type: 'integer' } }, '1', ['(root): Must not validate the schema (not)']],
  [
    'then',
    { if: { required: ['a'] }, then: { required: ['b'] }, else: false },
    '{"a":1}',
    ['(root): Must validate "then" as "if" was valid', '(root): b is required'],
  ],
  [
    'else',
    { if: { required: ['a'] }, then: false, else: { required: ['b'] } },
    '{}',
    ['(root): Must validate "else" as "if" was not valid', '(root): b is required'],
  ],
  ['a false schema', { properties: { a: false } }, '{"a":1}', ['a: False always fails validation']],
  [
    'additionalProperties with a schema',
    { properties: { a: {} }, patternProperties: { '^x': {} }, additionalProperties: { type: 'string' } },
    '{"a":1,"x1":1,"b":1}',
    ['b: Invalid type. Expected: string, given: integer'],
  ],
  [
    'patternProperties',
    { patternProperties: { '^x': { type: 'string' } }, additionalProperties: false },
    '{"x1":1,"y":1}',
    ['x1: Invalid type. Expected: string, given: integer', '(root): Additional property y is not allowed'],
  ],
  [
    'nested values by their dotted path',
    { properties: { items: { items: { properties: { name: { type: 'string' } } } } } },
    '{"items":[{"name":1}]}',
    ['items.0.name: Invalid type. Expected: string, given: integer'],
  ],
];

const everything = {
  properties: { z: { type: 'string' }, a: { type: 'string' } },
  required: ['r2', 'r1'],
  minProperties: 9,
  maxProperties: 1,
  additionalProperties: false,
  propertyNames: { pattern: '^[azn]$' },
  enum: [1],
  const: 2,
  if: true,
  then: false,
  dependencies: { a: ['d'] },
  not: {},
  allOf: [false],
  oneOf: [false],
  anyOf: [false],
};

const orders: readonly Row[] = [
  [
    'a wrong type as the only line',
    { type: 'string', enum: ['a'], not: {} },
    '1',
    ['(root): Invalid type. Expected: string, given: integer'],
  ],
  [
    'an object: combinators, object rules, common rules, declared properties',
    everything,
    '{"a":1,"z":2,"Q":3}',
    [
      '(root): Must validate at least one schema (anyOf)',
      '(root): False always fails validation',
      '(root): Must validate one and only one schema (oneOf)',
      '(root): False always fails validation',
      '(root): False always fails validation',
      '(root): Must validate all the schemas (allOf)',
      '(root): Must not validate the schema (not)',
      '(root): Has a dependency on d',
      '(root): Must validate "then" as "if" was valid',
      '(root): False always fails validation',
      '(root): Must have at least 9 properties',
      '(root): Must have at most 1 properties',
      '(root): r2 is required',
      '(root): r1 is required',
      '(root): Additional property Q is not allowed',
      '(root): Property name of "Q" does not match',
      "(root): Does not match pattern '^[azn]$'",
      '(root): (root) does not match: 2',
      '(root): (root) must be one of the following: 1',
      'z: Invalid type. Expected: string, given: integer',
      'a: Invalid type. Expected: string, given: integer',
    ],
  ],
  [
    'an array: items, length, uniqueness, contains, common rules',
    { items: { type: 'string' }, minItems: 9, maxItems: 1, uniqueItems: true, contains: { const: 1 }, enum: [0] },
    '["a","a",2]',
    [
      '2: Invalid type. Expected: string, given: integer',
      '(root): Array must have at least 9 items',
      '(root): Array must have at most 1 items',
      '(root): array items[0,1] must be unique',
      '(root): At least one of the items must match',
      '0: 0 does not match: 1',
      '(root): (root) must be one of the following: 0',
    ],
  ],
  [
    'a string: common rules, then length and pattern',
    { pattern: '^b', minLength: 3, format: 'email', enum: ['x'], const: 'y' },
    '"a"',
    [
      '(root): (root) does not match: "y"',
      '(root): (root) must be one of the following: "x"',
      "(root): Does not match format 'email'",
      '(root): String length must be greater than or equal to 3',
      "(root): Does not match pattern '^b'",
    ],
  ],
];

describe('validation/json-schema reports', () => {
  for (const [title, schema, document, lines] of rows) {
    it(title, () => equal(check(schema, document), lines.map((line) => `- ${line}`).join('\n')));
  }
});

describe('validation/json-schema orders the error lines of', () => {
  for (const [title, schema, document, lines] of orders) {
    it(title, () => equal(check(schema, document), lines.map((line) => `- ${line}`).join('\n')));
  }
});
