import { type Data, type DataObject, isObject } from '#contract';

/** Returns the type name of a schema under `components/schemas`. */
export type NameOf = (schema: string) => string;

const REFERENCE = '#/components/schemas/';

/** Types of JSON Schema that are types of TypeScript. */
const plainTypes: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
};

/** Writes a schema of an OpenAPI 3.1 document as a TypeScript type. Keywords that are not types are ignored. */
export function typeOf(schema: Data | undefined, nameOf: NameOf): string {
  if (schema === false) return 'never';
  if (!isObject(schema)) return 'unknown';
  const { $ref: reference, const: constant, enum: values } = schema;
  if (typeof reference === 'string') {
    return reference.startsWith(REFERENCE) ? nameOf(decode(reference.slice(REFERENCE.length))) : 'unknown';
  }
  if (constant !== undefined) return literal(constant);
  if (Array.isArray(values)) return union(values.map(literal));
  const every = [
    ownType(schema, nameOf),
    ...['anyOf', 'oneOf'].map((keyword) => choice(schema[keyword], (types) => union(types), nameOf)),
    choice(schema['allOf'], (types) => intersection(types), nameOf),
  ];
  return intersection(every);
}

function decode(reference: string): string {
  return reference.replaceAll('~1', '/').replaceAll('~0', '~');
}

function choice(list: Data | undefined, join: (types: string[]) => string, nameOf: NameOf): string {
  return Array.isArray(list) && list.length > 0 ? join(list.map((each) => typeOf(each, nameOf))) : 'unknown';
}

function ownType(schema: DataObject, nameOf: NameOf): string {
  const { type } = schema;
  const implied = schema['properties'] !== undefined ? ['object'] : schema['items'] !== undefined ? ['array'] : [];
  const names = type === undefined ? implied : [type].flat();
  if (names.length === 0) return 'unknown';
  return union(
    names.map((name) => {
      if (name === 'object') return objectType(schema, nameOf);
      if (name === 'array') return arrayType(schema, nameOf);
      return Object.hasOwn(plainTypes, String(name)) ? plainTypes[String(name)]! : 'unknown';
    }),
  );
}

function objectType({ properties, required, additionalProperties: others }: DataObject, nameOf: NameOf): string {
  const always = new Set(Array.isArray(required) ? required : []);
  const fields = Object.entries(isObject(properties) ? properties : {}).map(
    ([key, inner]) => `readonly ${keyOf(key)}${always.has(key) ? '' : '?'}: ${typeOf(inner, nameOf)}`,
  );
  if (fields.length === 0) {
    return `{ readonly [key: string]: ${others === undefined || others === false ? 'unknown' : typeOf(others, nameOf)} }`;
  }
  // An index signature must include the types of all fields.
  const rest = others === undefined || others === false ? [] : ['readonly [key: string]: unknown'];
  return `{\n${[...fields, ...rest].map((field) => `  ${indented(field, '  ')};`).join('\n')}\n}`;
}

/** Indents all lines of a type except the first one. Texts in it contain no line breaks. */
export function indented(type: string, indent: string): string {
  return type.replaceAll('\n', `\n${indent}`);
}

function arrayType({ items, prefixItems }: DataObject, nameOf: NameOf): string {
  if (!Array.isArray(prefixItems)) return `readonly ${grouped(typeOf(items, nameOf))}[]`;
  const rest = items === false ? [] : [`...${grouped(typeOf(items, nameOf))}[]`];
  return `readonly [${[...prefixItems.map((each) => typeOf(each, nameOf)), ...rest].join(', ')}]`;
}

/** Writes a key as an identifier, or as a string. */
export function keyOf(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key);
}

function literal(value: Data): string {
  if (value === null || ['string', 'boolean'].includes(typeof value)) return JSON.stringify(value);
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : 'unknown';
}

/** Joins alternatives. */
export function union(types: readonly string[]): string {
  const all = new Set(types);
  if (all.has('unknown')) return 'unknown';
  all.delete('never');
  return all.size === 0 ? 'never' : [...all].join(' | ');
}

function intersection(types: readonly string[]): string {
  const all = [...new Set(types)].filter((type) => type !== 'unknown');
  if (all.length === 0) return 'unknown';
  return all.length === 1 ? all[0]! : all.map(grouped).join(' & ');
}

/** Puts a type in parentheses if an operator would take only a part of it. */
function grouped(type: string): string {
  return /[|&]|^readonly /.test(type) ? `(${type})` : type;
}
