import { deepEqual, equal, throws } from 'node:assert/strict';
import { type DataObject, parseExact } from '#contract';
import { compileValidator } from '../../../plugins/validation/json-schema/validator.ts';
import { check, site } from './json-schema.ts';

const drafts = {
  '2019-09': 'https://json-schema.org/draft/2019-09/schema',
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
};
const { '2019-09': draft2019, '2020-12': draft2020 } = drafts;

/** Warnings about a schema, as `pointer: hint`. */
function warningsOf(schema: object): string[] {
  const warnings: string[] = [];
  const exact = parseExact(JSON.stringify(schema)) as DataObject;
  compileValidator(exact, {
    ...site,
    warn: (_code, pointer, _message, more) => void warnings.push(`${pointer}: ${more?.hint}`),
  });
  return warnings;
}

for (const [name, $schema] of Object.entries(drafts)) {
  describe(`validation/json-schema with draft ${name}`, () => {
    const allowed = (schema: object, text: string) => equal(check({ $schema, ...schema }, text), '');
    const refused = (schema: object, text: string, lines: string) => equal(check({ $schema, ...schema }, text), lines);

    it('applies keywords in a schema that contains $ref', () => {
      const schema = { $defs: { a: { minimum: 2 } }, $ref: '#/$defs/a', maximum: 3 };
      allowed(schema, '3');
      refused(schema, '1', '- (root): Must be greater than or equal to 2');
      refused(schema, '4', '- (root): Must be less than or equal to 3');
    });

    it('resolves $anchor and the $id of an embedded schema', () => {
      const $defs = { a: { $anchor: 'text', type: 'string' }, b: { $id: 'https://x.test/b', type: 'null' } };
      refused({ $defs, $ref: '#text' }, '1', '- (root): Invalid type. Expected: string, given: integer');
      refused({ $defs, $ref: 'https://x.test/b' }, '1', '- (root): Invalid type. Expected: null, given: integer');
      throws(() => check({ $schema, $ref: '#none' }, '1'), /JSON_SCHEMA_REFERENCE \/\$ref/);
    });

    it('supports dependentRequired and dependentSchemas', () => {
      const schema = { dependentRequired: { a: ['b'] }, dependentSchemas: { c: { required: ['d'] } } };
      allowed(schema, '{"b":1}');
      refused(schema, '{"a":1}', '- (root): Has a dependency on b');
      refused(schema, '{"c":1}', '- (root): d is required');
    });

    it('supports minContains and maxContains', () => {
      const schema = { contains: { type: 'null' }, minContains: 2, maxContains: 3 };
      allowed(schema, '[null,1,null]');
      refused({ ...schema, contains: true }, '[1]', '- (root): At least 2 of the items must match');
      refused(schema, '[null,null,null,null]', '- (root): At most 3 of the items may match');
      allowed({ ...schema, minContains: 0 }, '[]');
    });

    it('rejects properties that neither the schema nor its in-place subschemas evaluate', () => {
      const schema = {
        properties: { a: true },
        anyOf: [{ properties: { b: { const: 1 } }, required: ['b'] }, { patternProperties: { '^c': true } }],
        unevaluatedProperties: false,
      };
      allowed(schema, '{"a":0,"b":1,"c":2}');
      refused(schema, '{"a":0,"d":2}', '- (root): Unevaluated property d is not allowed');
      // The property is rejected, because the first alternative does not match and therefore evaluates nothing.
      refused(schema, '{"b":2}', '- (root): Unevaluated property b is not allowed');
      // The property is rejected, because properties that another schema in allOf evaluates do not count.
      const cousins = { allOf: [{ properties: { a: true } }, { unevaluatedProperties: false }] };
      equal(check({ $schema, ...cousins }, '{"a":1}').includes('Unevaluated property a is not allowed'), true);
    });

    it('applies a schema to unevaluated properties, including names such as __proto__', () => {
      const schema = { properties: { a: true }, unevaluatedProperties: { type: 'string' } };
      allowed(schema, '{"a":1,"b":"x","__proto__":"y"}');
      refused(schema, '{"__proto__":1}', '- __proto__: Invalid type. Expected: string, given: integer');
      refused(schema, '{"constructor":1}', '- constructor: Invalid type. Expected: string, given: integer');
    });

    it('rejects unevaluated items', () => {
      const listed = $schema === draft2020 ? { prefixItems: [true] } : { items: [true] };
      const schema = { ...listed, unevaluatedItems: false };
      allowed(schema, '[1]');
      refused(schema, '[1,2]', '- (root): No unevaluated items allowed on array');
    });

    it('resolves references to its metaschema', () => {
      allowed({ $ref: $schema }, '{"minLength":1}');
      equal(check({ $schema, $ref: $schema }, '{"properties":{"a":{"minLength":-1}}}') === '', false);
    });

    it('checks formats, including durations', () => {
      allowed({ format: 'duration' }, '"P1DT2H"');
      refused({ format: 'duration' }, '"1 day"', "- (root): Does not match format 'duration'");
      refused({ format: 'ipv4' }, '"1.2.3"', "- (root): Does not match format 'ipv4'");
    });

    it('rejects invalid keyword values with their location', () => {
      throws(() => check({ $schema, minContains: -1 }, '1'), /JSON_SCHEMA_INVALID \/minContains/);
      throws(() => check({ $schema, dependentRequired: { a: 1 } }, '1'), /JSON_SCHEMA_INVALID \/dependentRequired/);
    });
  });
}

describe('keywords of a single draft in validation/json-schema', () => {
  it('apply prefixItems, and items to the rest, in draft 2020-12', () => {
    const schema = { $schema: draft2020, prefixItems: [{ type: 'string' }], items: { type: 'null' } };
    equal(check(schema, '["a",null]'), '');
    equal(check(schema, '["a",1]'), '- 1: Invalid type. Expected: null, given: integer');
    throws(() => check({ $schema: draft2020, items: [{}] }, '1'), /JSON_SCHEMA_INVALID \/items/);
  });

  it('count items that match contains as evaluated in draft 2020-12 only', () => {
    const schema = { contains: { type: 'null' }, unevaluatedItems: false };
    equal(check({ $schema: draft2020, ...schema }, '[null]'), '');
    equal(check({ $schema: draft2019, ...schema }, '[null]'), '- (root): No unevaluated items allowed on array');
  });

  it('resolve $dynamicRef to the outermost schema with the anchor', () => {
    const extended = {
      $schema: draft2020,
      $id: 'https://x.test/strict',
      $dynamicAnchor: 'node',
      $ref: 'tree',
      unevaluatedProperties: false,
      $defs: {
        tree: {
          $id: 'tree',
          $dynamicAnchor: 'node',
          type: 'object',
          properties: { value: true, children: { type: 'array', items: { $dynamicRef: '#node' } } },
        },
      },
    };
    equal(check(extended, '{"children":[{"value":1}]}'), '');
    equal(check(extended, '{"children":[{"vlaue":1}]}'), '- children.0: Unevaluated property vlaue is not allowed');
    const loose = { ...extended.$defs.tree, $schema: draft2020 };
    equal(check(loose, '{"children":[{"vlaue":1}]}'), '');
  });

  it('resolve $recursiveRef in draft 2019-09 to the outermost schema that allows it', () => {
    const schema = {
      $schema: draft2019,
      $id: 'https://x.test/strict',
      $recursiveAnchor: true,
      $ref: 'tree',
      unevaluatedProperties: false,
      $defs: {
        tree: {
          $id: 'tree',
          $recursiveAnchor: true,
          properties: { value: true, child: { $recursiveRef: '#' } },
        },
      },
    };
    equal(check(schema, '{"child":{"value":1}}'), '');
    equal(check(schema, '{"child":{"vlaue":1}}'), '- child: Unevaluated property vlaue is not allowed');
  });

  it("are reported if the schema's draft does not define them", () => {
    const later = { unevaluatedProperties: false, properties: { a: { prefixItems: [true] } } };
    deepEqual(warningsOf(later), [
      `/unevaluatedProperties: "$schema": "${draft2019}"`,
      `/properties/a/prefixItems: "$schema": "${draft2020}"`,
    ]);
    deepEqual(warningsOf({ $schema: draft2020, additionalItems: false }), [
      '/additionalItems: use "items" next to "prefixItems"',
    ]);
    deepEqual(warningsOf({ $schema: draft2019, unevaluatedProperties: false }), []);
  });

  it('do not take exponential time if recursive alternatives fail', () => {
    const node = { $ref: '#/$defs/node' };
    const schema = {
      $schema: draft2020,
      ...node,
      $defs: {
        node: {
          anyOf: [
            { type: 'object', properties: { next: node }, required: ['next'], unevaluatedProperties: false },
            { type: 'object', properties: { next: node }, required: ['next'], minProperties: 1 },
            { type: 'null' },
          ],
        },
      },
    };
    const deep = '{"next":'.repeat(200) + '1' + '}'.repeat(200);
    equal(check(schema, deep) === '', false);
  });
});
