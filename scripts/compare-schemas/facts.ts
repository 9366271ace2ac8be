import { isSchema, type JsonSchema, type Node, type SchemaReader } from './schema-reader.ts';

/** Everything that a schema says about a value, with its alternatives taken together. */
export interface Facts {
  /** Allowed types; empty if any type is allowed. */
  readonly types: ReadonlySet<string>;
  /** Allowed values as JSON; undefined if the values are not listed. */
  readonly values: readonly string[] | undefined;
  readonly default: unknown;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly pattern: string | undefined;
  readonly required: ReadonlySet<string>;
  readonly fields: ReadonlyMap<string, Node>;
  /** Schema of the elements of an array. */
  readonly items: Node | undefined;
  /** Schema of all other keys of an object. */
  readonly others: Node | undefined;
}

/** Keys of a configuration that are comments. */
const COMMENT = /^[@$_#]/;

/** Reads the facts of a schema. */
export function factsOf(reader: SchemaReader, node: Node): Facts {
  const whole = reader.resolved(node);
  const parts = alternatives(reader, whole);
  const listed = parts.map(({ schema }) => valuesOf(schema));
  const first = <T>(pick: (part: Node) => T | undefined): T | undefined => {
    for (const part of parts) {
      const found = pick(part);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const keyword = (name: string) => (parts.length === 1 ? parts[0]!.schema[name] : undefined);
  return {
    types: parts.some(({ schema }) => typesOf(schema).length === 0) ? new Set() : new Set(parts.flatMap(typesIn)),
    values: listed.some((values) => values === undefined) ? undefined : listed.flatMap((values) => values!),
    default: whole.schema['default'],
    minimum: numberOrNone(keyword('minimum')),
    maximum: numberOrNone(keyword('maximum')),
    pattern: keyword('pattern') as string | undefined,
    required: new Set(parts.length === 1 ? ((parts[0]!.schema['required'] as string[] | undefined) ?? []) : []),
    fields: together(parts.flatMap(fieldsOf)),
    items: first((part) => inner(part, part.schema['items'])),
    others: first(othersOf),
  };
}

/** The alternatives of `anyOf` and `oneOf` that describe values; alternatives that only require fields are omitted. */
function alternatives(reader: SchemaReader, node: Node): Node[] {
  const choices = [node.schema['anyOf'], node.schema['oneOf']].flatMap((list) => (Array.isArray(list) ? list : []));
  const described = choices
    .filter((choice): choice is JsonSchema => isSchema(choice))
    .filter((choice) => ['$ref', 'type', 'enum', 'const', 'items', 'anyOf', 'oneOf'].some((key) => key in choice))
    .filter((choice) => choice['type'] !== 'null');
  if (described.length === 0) return [node];
  const { anyOf: _any, oneOf: _one, default: _default, ...shared } = node.schema;
  const isShared = 'properties' in shared || 'items' in shared;
  return described.flatMap((choice) => {
    const { schema, document } = reader.resolved({ schema: choice, document: node.document });
    return alternatives(reader, { schema: isShared ? { ...shared, ...schema } : schema, document });
  });
}

function typesIn({ schema }: Node): readonly string[] {
  return typesOf(schema);
}

function typesOf(schema: JsonSchema): readonly string[] {
  const { type } = schema;
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return type as string[];
  const values = 'const' in schema ? [schema['const']] : schema['enum'];
  if (Array.isArray(values)) return [...new Set(values.map(typeOf))];
  if ('properties' in schema) return ['object'];
  return 'items' in schema ? ['array'] : [];
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (Number.isInteger(value)) return 'integer';
  return value === null ? 'null' : typeof value;
}

function valuesOf(schema: JsonSchema): readonly string[] | undefined {
  const values = 'const' in schema ? [schema['const']] : schema['enum'];
  return Array.isArray(values) ? values.map((value) => JSON.stringify(value)) : undefined;
}

function fieldsOf(node: Node): [string, Node][] {
  const { properties } = node.schema;
  if (!isSchema(properties)) return [];
  return Object.entries(properties)
    .filter(([name, field]) => !COMMENT.test(name) && isSchema(field))
    .map(([name, field]) => [name, { schema: field as JsonSchema, document: node.document }]);
}

/** Fields by name; a field that several alternatives have gets the alternatives of its value. */
function together(fields: readonly [string, Node][]): Map<string, Node> {
  const results = new Map<string, Node>();
  for (const [name, node] of fields) {
    const known = results.get(name);
    const both = known && { schema: { anyOf: [known.schema, node.schema] }, document: node.document };
    results.set(name, both ?? node);
  }
  return results;
}

/** Schema of the keys that are not listed. Patterns next to listed keys are comments or old names. */
function othersOf(node: Node): Node | undefined {
  const { patternProperties, additionalProperties, properties, type } = node.schema;
  if (isSchema(additionalProperties)) return inner(node, additionalProperties);
  if (properties !== undefined) return undefined;
  if (isSchema(patternProperties)) return inner(node, Object.values(patternProperties).find(isSchema));
  return type === 'object' && additionalProperties === undefined ? inner(node, {}) : undefined;
}

function inner({ document }: Node, schema: unknown): Node | undefined {
  return isSchema(schema) ? { schema, document } : undefined;
}

function numberOrNone(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && Math.abs(value) < Number.MAX_SAFE_INTEGER
    ? value
    : undefined;
}
