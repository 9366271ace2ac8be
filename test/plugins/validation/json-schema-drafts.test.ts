// biome-ignore-all lint/suspicious/noThenProperty: it is a keyword of the schemas.
import { equal, throws } from 'node:assert/strict';
import { check } from './json-schema.ts';

const draft = (number: string) => `http://json-schema.org/draft-${number}/schema#`;
const allowed = (schema: object, text: string) => equal(check(schema, text), '');
const refused = (schema: object, text: string, lines: string) => equal(check(schema, text), lines);

describe('the drafts of validation/json-schema', () => {
  it('ignore keywords of later drafts in draft 04', () => {
    const later = { const: 1, contains: { const: 1 }, propertyNames: { maxLength: 0 }, if: {} };
    allowed({ $schema: draft('04'), ...later, else: {} }, '{"a":[]}');
  });

  it('ignore if, then and else in draft 06', () => {
    const schema = { if: {}, then: { type: 'string' } };
    allowed({ $schema: draft('06'), ...schema }, '1');
    refused({ $schema: draft('06'), const: 2 }, '1', '- (root): (root) does not match: 2');
  });

  it('support if, then and else in draft 07', () => {
    const schema = { $schema: draft('07'), if: {}, then: { type: 'string' } };
    const lines =
      '- (root): Must validate "then" as "if" was valid\n- (root): Invalid type. Expected: string, given: integer';
    refused(schema, '1', lines);
  });

  it('treat exclusive limits as booleans in draft 04 and as numbers later', () => {
    refused({ $schema: draft('04'), maximum: 3, exclusiveMaximum: true }, '3', '- (root): Must be less than 3');
    allowed({ $schema: draft('04'), maximum: 3, exclusiveMaximum: false }, '3');
    throws(() => check({ $schema: draft('04'), exclusiveMaximum: 3 }, '3'), /JSON_SCHEMA_INVALID/);
    throws(() => check({ $schema: draft('07'), maximum: 3, exclusiveMaximum: true }, '3'), /JSON_SCHEMA_INVALID/);
  });

  it('accept numbers and booleans for exclusive limits without $schema, but booleans only with minimum or maximum', () => {
    refused({ maximum: 3, exclusiveMaximum: true }, '3', '- (root): Must be less than 3');
    refused({ exclusiveMaximum: 3 }, '3', '- (root): Must be less than 3');
    throws(() => check({ exclusiveMaximum: true }, '3'), /JSON_SCHEMA_INVALID \/exclusiveMaximum requires maximum/);
  });

  it('reject boolean schemas in draft 04', () => {
    throws(() => check({ $schema: draft('04'), properties: { a: true } }, '1'), /JSON_SCHEMA_INVALID \/properties\/a/);
  });

  it('ignore comments and unknown keywords', () => {
    allowed({ '@comment': 1, _note: [], '#x': {}, $comment: 'c', title: 't', whatever: { type: 'string' } }, '1');
  });

  it('ignore other keywords in a schema that contains $ref', () => {
    allowed({ definitions: { a: {} }, properties: { x: { $ref: '#/definitions/a', type: 'string' } } }, '{"x":1}');
  });
});

describe('references in validation/json-schema', () => {
  const line = '- x: Invalid type. Expected: string, given: integer';
  const text = { type: 'string' };
  const to = ($ref: string, rest: object) => ({ properties: { x: { $ref } }, ...rest });

  it('resolve pointers, with escapes and through unknown keywords', () => {
    refused(to('#/definitions/a', { definitions: { a: text } }), '{"x":1}', line);
    refused(to('#/definitions/a~1b~0c%25%20d', { definitions: { 'a/b~c% d': text } }), '{"x":1}', line);
    refused(to('#/$defs/a/0', { $defs: { a: [text] } }), '{"x":1}', line);
  });

  it('resolve schema IDs relative to the enclosing base URI', () => {
    const named = { $id: 'http://x.test/root.json', definitions: { a: { $id: 'parts/a.json', ...text } } };
    refused(to('parts/a.json', named), '{"x":1}', line);
    refused(to('http://x.test/parts/a.json#', named), '{"x":1}', line);
    refused(to('root.json#/definitions/a', named), '{"x":1}', line);
    const inner = {
      $id: 'http://x.test/b.json',
      definitions: { c: text },
      properties: { y: { $ref: '#/definitions/c' } },
    };
    refused({ properties: { x: inner } }, '{"x":{"y":1}}', line.replace('x:', 'x.y:'));
  });

  it('resolve against a base URI that changes within the schema', () => {
    const folder = { $id: 'http://example.com/folder/', definitions: { whole: { $id: 'whole.json', ...text } } };
    const ref = { $ref: 'whole.json' };
    const definitions = {
      folder: { ...folder, properties: { x: ref } },
      bar: { $id: 'other/', properties: { x: ref } },
    };
    const schema = (whole: object) => ({ $id: 'http://example.com/', definitions, ...whole });
    refused(schema({ properties: { y: { $ref: '#/definitions/folder' } } }), '{"y":{"x":1}}', line.replace('x', 'y.x'));
    refused(schema({ properties: { y: { $ref: 'folder/' } } }), '{"y":{"x":1}}', line.replace('x', 'y.x'));
    throws(() => check(schema({ allOf: [{ $ref: 'other/' }] }), '{"x":1}'), /"whole.json" is not in this document/);
    const inner = { $id: 'nested/', items: { $id: 'deep/', items: { $ref: 'leaf.json' } } };
    const leaf = { $id: 'http://example.com/nested/deep/leaf.json', ...text };
    const nested = { $id: 'http://example.com/', definitions: { inner, leaf }, properties: { x: { $ref: 'nested/' } } };
    refused(nested, '{"x":[[1]]}', '- x.0.0: Invalid type. Expected: string, given: integer');
  });

  it('resolve anchors, and id in draft 04', () => {
    refused(to('#a', { definitions: { a: { $id: '#a', ...text } } }), '{"x":1}', line);
    refused(to('#a', { $schema: draft('04'), definitions: { a: { id: '#a', ...text } } }), '{"x":1}', line);
    throws(
      () => check(to('#a', { $schema: draft('07'), definitions: { a: { id: '#a', ...text } } }), '1'),
      /REFERENCE/,
    );
  });

  it('are not read from properties named $ref', () => {
    allowed({ properties: { $ref: { type: 'string' }, $id: {} } }, '{"$ref":"x"}');
    allowed({ const: { $ref: 'http://x.test/' } }, '{"$ref":"http://x.test/"}');
  });

  it('can be recursive', () => {
    const tree = { type: 'object', required: ['v'], properties: { kids: { type: 'array', items: { $ref: '#' } } } };
    allowed(tree, '{"v":1,"kids":[{"v":2,"kids":[]}]}');
    refused(tree, '{"v":1,"kids":[{"v":2,"kids":[{}]}]}', '- kids.0.kids.0: v is required');
  });

  describe('to a metaschema', () => {
    for (const number of ['04', '06', '07']) {
      it(`of draft ${number} require that the value is a valid schema`, () => {
        for (const $ref of [draft(number), draft(number).slice(0, -1), draft(number).replace('http:', 'https:')]) {
          for (const schema of [to($ref, {}), to($ref, { $schema: draft(number) })]) {
            allowed(schema, '{"x":{"type":"string","properties":{"a":{"$ref":"#"}}}}');
            refused(schema, '{"x":{"maxLength":-1}}', '- x.maxLength: Must be greater than or equal to 0');
          }
        }
      });
    }

    it('use the draft that the metaschema itself declares', () => {
      const exclusive = '{"x":{"minimum":1,"exclusiveMinimum":true}}';
      allowed(to(draft('04'), { $schema: draft('07') }), exclusive);
      refused(
        to(draft('07'), { $schema: draft('04') }),
        exclusive,
        '- x.exclusiveMinimum: Invalid type. Expected: number, given: boolean',
      );
      refused(to(draft('04'), {}), '{"x":{"multipleOf":0}}', '- x.multipleOf: Must be greater than 0');
      refused(
        to(draft('04'), {}),
        '{"x":{"properties":{"a":true}}}',
        '- x.properties.a: Invalid type. Expected: object, given: boolean',
      );
      allowed(to(draft('07'), {}), '{"x":{"properties":{"a":true}}}');
    });

    it('can point to a part of the metaschema', () => {
      const count = to(`${draft('07')}/definitions/nonNegativeInteger`, {});
      allowed(count, '{"x":0}');
      refused(count, '{"x":-1}', '- x: Must be greater than or equal to 0');
      throws(() => check(to(`${draft('07')}/definitions/none`, {}), '1'), /JSON_SCHEMA_REFERENCE/);
    });

    it('prefer an embedded schema with the same ID', () => {
      refused(to(draft('07'), { definitions: { own: { $id: draft('07'), ...text } } }), '{"x":1}', line);
    });

    it('of unsupported drafts are never fetched', () => {
      for (const $ref of [draft('03'), 'https://json-schema.org/draft/next/schema', 'http://json-schema.org/schema#']) {
        throws(() => check(to($ref, {}), '1'), /JSON_SCHEMA_REFERENCE/);
      }
    });
  });
});
