import { deepEqual, equal, match, ok, throws } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { compareSchemas } from '../../scripts/compare-schemas/differences.ts';
import { explanations } from '../../scripts/compare-schemas/explained.ts';
import { reportOf } from '../../scripts/compare-schemas/report.ts';

describe('published schemas', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-schemas-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const write = (files: Record<string, object>): string => {
    for (const [path, schema] of Object.entries(files)) {
      const file = join(folder, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, JSON.stringify(schema));
    }
    return join(folder, '_root.json');
  };
  const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });
  const compare = (published: object, ours: object, others: Record<string, object> = {}) =>
    compareSchemas(write({ '_root.json': object(published), ...others }), object(ours));
  const found = (published: object, ours: object, others: Record<string, object> = {}) =>
    compare(published, ours, others).differences.map(
      ({ at, field, kind, published: theirs, ours: mine }) => `${at} ${field}: ${kind} ${theirs} / ${mine}`,
    );

  it('agree if only their descriptions differ', () => {
    const field = { type: 'string', description: 'Theirs.', default: 'a' };
    deepEqual(found({ a: field }, { a: { ...field, description: 'Ours.' } }), []);
  });

  for (const [what, theirs, mine, expected] of [
    ['a missing field', { type: 'string' }, undefined, 'missing allowed / unknown'],
    ['a type', { type: ['string', 'integer'] }, { type: 'string' }, 'type string or integer / string'],
    ['a value', { enum: ['a', 'b'] }, { type: 'string', enum: ['a'] }, 'values "b" / not accepted'],
    ['any values', { type: 'string' }, { enum: ['a'] }, 'values any / "a"'],
    ['a default', { type: 'boolean', default: true }, { type: 'boolean' }, 'default true / none'],
    ['a minimum', { type: 'integer' }, { type: 'integer', minimum: 1 }, 'minimum none / 1'],
    ['a maximum', { type: 'number', maximum: 9 }, { type: 'number', maximum: 8 }, 'maximum 9 / 8'],
    ['a pattern', { type: 'string' }, { type: 'string', pattern: '^a' }, 'pattern any text / ^a'],
  ] as const) {
    it(`are reported if they differ by ${what}`, () =>
      deepEqual(found({ a: theirs }, mine ? { a: mine } : {}), [`root a: ${expected}`]));
  }

  it('differ by a field that only the gateway requires', () => {
    const a = object({ b: {} });
    deepEqual(found({ a }, { a: { ...a, required: ['b'] } }), ['root a.b: required optional / required']);
    deepEqual(found({ a: { ...a, required: ['b'] } }, { a }), []);
  });

  for (const [what, theirs, mine] of [
    ['other types', { type: 'integer' }, { type: ['number', 'string'] }],
    ['other values', { enum: ['a'] }, { enum: ['a', 'b'] }],
    ['any value', { enum: ['a'] }, {}],
    ['values outside of the published limits', { type: 'integer', minimum: 1, maximum: 5 }, { type: 'integer' }],
    ['other texts', { type: 'string', pattern: '^a$' }, { type: 'string' }],
    ['listed texts in another case', { enum: ['ip'] }, { type: 'string', pattern: '^[iI][pP]$' }],
    ['another type as an alternative', { type: 'string' }, { anyOf: [{ type: 'string' }, { type: 'array' }] }],
  ] as const) {
    it(`agree with the gateway if the gateway also accepts ${what}`, () =>
      deepEqual(found({ a: theirs }, { a: mine }), []));
  }

  it('can refer to each other, and to parts of each other', () => {
    const files = {
      'units.json': { $defs: { time: { type: 'string', pattern: '^[0-9]+s$' } } },
      'auth/key.json': object({ ttl: { $ref: '../units.json#/$defs/time' } }),
    };
    const key = object({ ttl: { type: 'string', pattern: '^[0-9]+ms$' } });
    deepEqual(found({ key: { $ref: 'auth/key.json' } }, { key }, files), [
      'root key.ttl: pattern ^[0-9]+s$ / ^[0-9]+ms$',
    ]);
  });

  it('name objects after their lists, and components after the object that contains them', () => {
    const extra_config = object({ 'auth/key': object({ id: { type: 'string' } }), 'new/one': object({}) });
    const backend = { type: 'array', items: object({ extra_config, host: { type: 'array' } }) };
    const endpoints = { type: 'array', items: object({ extra_config, backend }) };
    const known = { extra_config: object({ 'auth/key': object({}) }) };
    const ours = { type: 'array', items: object({ ...known, backend: { type: 'array', items: object(known) } }) };
    deepEqual(found({ endpoints }, { endpoints: ours }), [
      'endpoint auth/key id: missing allowed / unknown',
      'endpoint new/one : missing allowed / unknown',
      'backend auth/key id: missing allowed / unknown',
      'backend new/one : missing allowed / unknown',
      'backend host: missing allowed / unknown',
    ]);
  });

  it('can contain themselves', () => {
    const files = { 'group.json': object({ inner: { $ref: './group.json' }, name: { type: 'string' } }) };
    const group: Record<string, unknown> = object({ inner: {}, name: { type: 'integer' } });
    deepEqual(found({ group: { $ref: 'group.json' } }, { group }, files), ['root group.name: type string / integer']);
  });

  it('have maps and lists, whose members are compared', () => {
    const map = { type: 'object', patternProperties: { '.*': { type: 'string' } } };
    const list = { type: 'array', items: { type: 'string' } };
    const ours = {
      map: { type: 'object', additionalProperties: { type: 'integer' } },
      list: { type: 'array', items: { type: 'integer' } },
    };
    deepEqual(found({ map, list }, ours), ['root map.*: type string / integer', 'root list[]: type string / integer']);
  });

  it('can have comments, and fields with the names of Object.prototype members', () => {
    deepEqual(found({ '@comment': { type: 'string' }, constructor: {} }, {}), [
      'root constructor: missing allowed / unknown',
    ]);
  });

  it('can be incomplete: files that do not exist are listed', () => {
    const { unread, differences } = compare({ a: { $ref: 'no/such.json' } }, { a: { type: 'string' } });
    deepEqual([unread, differences], [['no/such.json'], []]);
    throws(() => compareSchemas(join(folder, 'none.json'), {}), /none\.json does not exist/);
  });

  it('are reported by object, missing fields first, with the number of fields', () => {
    const comparison = compare({ b: { type: 'string', default: 'x' }, a: {} }, { b: { type: 'string' }, c: {}, d: {} });
    const { lines, isExplained } = reportOf(comparison, [], false);
    deepEqual(lines, [
      'root',
      '  a: missing',
      '  b: default "x" is none here',
      '1 schemas with 2 fields compared, 2 fields only here; 2 differences, 2 of them without an explanation',
    ]);
    equal(isExplained, false);
  });

  it('have explained differences, which are shown on request', () => {
    const comparison = compare({ 'a.b': { type: 'string', default: 'x' } }, { 'a.b': { type: 'string' } });
    const known = [{ fields: ['root a.*'], kind: 'default', because: 'the reason' }] as const;
    const last =
      '1 schemas with 1 fields compared, 0 fields only here; 1 differences, 0 of them without an explanation';
    deepEqual(reportOf(comparison, known, false), { lines: [last], isExplained: true });
    deepEqual(reportOf(comparison, known, true).lines, ['root', '  a.b: default "x" is none here (the reason)', last]);
    const other = [{ ...known[0], published: '"y"' }];
    equal(reportOf(comparison, other, false).isExplained, false);
  });

  it('that no part of a configuration refers to are listed, and are an error without an explanation', () => {
    const others = { 'auth/old.json': object({}), 'used.json': object({}) };
    const comparison = compare({ a: { $ref: 'used.json' } }, { a: object({}) }, others);
    const { lines, isExplained } = reportOf(comparison, [], false);
    deepEqual([lines[0], isExplained], ['not part of a configuration: auth/old.json', false]);
  });

  it('of other tools are explained, and listed on request', () => {
    const comparison = compare({}, {}, { 'e2e.json': object({}) });
    const { lines, isExplained } = reportOf(comparison, [], false);
    deepEqual([lines.length, isExplained], [1, true]);
    match(reportOf(comparison, [], true).lines[0]!, /^not part of a configuration: e2e\.json \(.+\)$/);
  });

  it('have explanations that state a reason and name fields', () => {
    for (const { fields, because } of explanations) {
      ok(fields.length > 0 && because.length > 10, because);
      equal(new Set(fields).size, fields.length, because);
    }
  });

  it('are compared with the schema of this release by the command', () => {
    write({ '_root.json': object({ endpoints: { type: 'array', items: object({ no_such_field: {} }) } }) });
    const { stdout, status } = spawnSync(process.execPath, ['scripts/compare-schemas.ts', folder], {
      encoding: 'utf8',
    });
    deepEqual([stdout.split('\n').slice(0, 2), status], [['endpoint', '  no_such_field: missing'], 1]);
    equal(spawnSync(process.execPath, ['scripts/compare-schemas.ts'], { encoding: 'utf8' }).status, 2);
  });
});
