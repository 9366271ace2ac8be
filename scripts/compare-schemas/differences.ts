import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Facts, factsOf } from './facts.ts';
import { type JsonSchema, type Node, SchemaReader } from './schema-reader.ts';

/** Kinds of differences that a configuration written for the other product would notice. */
export type Kind = 'missing' | 'type' | 'values' | 'default' | 'required' | 'minimum' | 'maximum' | 'pattern';

/** A field that the gateway's schema lacks or treats differently. */
export interface Difference {
  /** The object of the configuration, for example `endpoint` or `endpoint auth/validator`. */
  readonly at: string;
  /** Path of the field within the component; empty for the whole component. */
  readonly field: string;
  readonly kind: Kind;
  readonly published: string;
  readonly ours: string;
}

/** Result of a comparison. */
export interface Comparison {
  readonly differences: readonly Difference[];
  /** Number of published files that were read. */
  readonly schemas: number;
  /** Number of published fields that were compared. */
  readonly compared: number;
  /** Number of fields that only the gateway has. */
  readonly added: number;
  /** Referenced files that the folder lacks. */
  readonly unread: readonly string[];
  /** Files of the folder that no part of a configuration refers to. */
  readonly apart: readonly string[];
}

/** Position of the two schemas that are compared. */
interface Place {
  readonly at: string;
  readonly field: string;
  /** Published schemas that contain this one: a schema within itself is compared once. */
  readonly inside: readonly JsonSchema[];
}

/** Lists whose elements are objects of their own, with the name of such an object. */
const objects: Readonly<Record<string, string>> = { endpoints: 'endpoint', backend: 'backend', async_agent: 'agent' };

/**
 * Compares a published schema with the gateway's own. Values that the gateway accepts in addition are not differences;
 * fields that only the gateway has are counted.
 * @param entry file of the published schema of a whole configuration. @param own the gateway's schema.
 */
export function compareSchemas(entry: string, own: JsonSchema): Comparison {
  const reader = new SchemaReader();
  const differences = new Map<string, Difference>();
  const [compared, added] = [new Set<string>(), new Set<string>()];

  const compare = (published: Node, ours: Node, outer: Place): void => {
    const { schema } = reader.resolved(published);
    if (outer.inside.includes(schema)) return;
    const place = { ...outer, inside: [...outer.inside, schema] };
    const report = ({ at, field }: Place, kind: Kind, wanted: string, found: string): void => {
      differences.set(`${at} ${field} ${kind}`, { at, field, kind, published: wanted, ours: found });
    };
    const [theirs, mine] = [factsOf(reader, published), factsOf(reader, ours)];
    for (const [kind, wanted, found] of differencesOf(theirs, mine)) report(place, kind, wanted, found);
    if (theirs.items && mine.items) compare(theirs.items, mine.items, inList(place));
    if (theirs.others && mine.others) compare(theirs.others, mine.others, below(place, '*'));
    for (const [name, field] of theirs.fields) {
      const inner = below(place, name);
      compared.add(`${inner.at} ${inner.field}`);
      const counterpart = mine.fields.get(name) ?? mine.others;
      if (counterpart) compare(field, counterpart, inner);
      else if (mine.types.size > 0) report(inner, 'missing', 'allowed', 'unknown');
      if (mine.required.has(name) && !theirs.required.has(name)) report(inner, 'required', 'optional', 'required');
    }
    for (const name of theirs.fields.size > 0 ? mine.fields.keys() : []) {
      const { at, field } = below(place, name);
      if (!theirs.fields.has(name)) added.add(`${at} ${field}`);
    }
  };

  const root = { schema: own, document: { file: '', root: own } };
  compare(reader.open(entry), root, { at: 'root', field: '', inside: [] });
  const found = [...differences.values()];
  const counts = { schemas: reader.files, compared: compared.size, added: added.size };
  return { differences: found, ...counts, unread: reader.missing, apart: reader.unreadIn(dirname(entry)) };
}

function* differencesOf(theirs: Facts, mine: Facts): Generator<[Kind, string, string]> {
  const refused = [...theirs.types].filter((type) => !acceptsType(mine.types, type));
  if (refused.length > 0) yield ['type', [...theirs.types].join(' or '), [...mine.types].join(' or ')];
  const values = mine.values;
  const lost = values && theirs.values?.filter((value) => !values.includes(value));
  if (lost && lost.length > 0) yield ['values', lost.join(', '), 'not accepted'];
  if (values && !theirs.values && theirs.types.has('string')) yield ['values', 'any', values.join(', ')];
  if (theirs.default !== undefined && !isDeepStrictEqual(theirs.default, mine.default)) {
    yield ['default', JSON.stringify(theirs.default), JSON.stringify(mine.default) ?? 'none'];
  }
  const { minimum, maximum, pattern } = mine;
  if (minimum !== undefined && minimum > (theirs.minimum ?? Number.NEGATIVE_INFINITY)) {
    yield ['minimum', String(theirs.minimum ?? 'none'), String(minimum)];
  }
  if (maximum !== undefined && maximum < (theirs.maximum ?? Number.POSITIVE_INFINITY)) {
    yield ['maximum', String(theirs.maximum ?? 'none'), String(maximum)];
  }
  if (pattern === undefined || pattern === theirs.pattern) return;
  const matches = new RegExp(pattern, 'u');
  if (theirs.values?.every((value) => matches.test(String(JSON.parse(value))))) return;
  yield ['pattern', theirs.pattern ?? 'any text', pattern];
}

function acceptsType(types: ReadonlySet<string>, type: string): boolean {
  return types.size === 0 || types.has(type) || (type === 'integer' && types.has('number'));
}

function inList(place: Place): Place {
  const object = objects[place.field.split('.').at(-1)!];
  return object === undefined ? { ...place, field: `${place.field}[]` } : { ...place, at: object, field: '' };
}

/**
 * Returns the place of a field of an object. A component in `extra_config` begins an object of its own: its fields are
 * counted from there.
 */
function below(place: Place, name: string): Place {
  const { at, field } = place;
  if (field.split('.').at(-1) === 'extra_config') return { ...place, at: `${at} ${name}`, field: '' };
  return { ...place, field: field === '' ? name : `${field}.${name}` };
}
