import type { JsonSchema } from '../../kernel/config/index.ts';
import { DURATION_PATTERN } from '../../kernel/config/schema/duration.ts';
import { DURATION_WORDS } from '../../kernel/config/schema/schema.ts';
import { anchor, code, plain, table, value } from './markdown.ts';

type Schemas = Readonly<Record<string, JsonSchema>>;

/** Notes on fields, in addition to their descriptions: where nested fields are documented, if not on the same page. */
export type Elsewhere = Readonly<Record<string, string>>;

/** The fields of one object. */
interface FieldSection {
  /** `a.b` is field `b` of object `a`, `a[]` an item of list `a`, `a.*` a value of map `a`. Empty for the object itself. */
  readonly path: string;
  readonly fields: Schemas;
  readonly required: ReadonlySet<string>;
}

/**
 * Markdown for the fields of an object: a table of its own fields, and below it a section for each nested object.
 * @param level of the headings of nested objects. @param of what the headings name, if the page has several objects.
 */
export function fieldSections(schema: JsonSchema, elsewhere: Elsewhere, level: number, of?: string): string {
  const sections = sectionsOf(schema, '', elsewhere);
  if (sections.length === 0) return `Any object. ${plain(String(schema['description']))}`;
  const headings = new Map(sections.map(({ path }) => [path, headingOf(path, of)]));
  const paths = [...headings.keys()];
  return sections
    .flatMap(({ path, fields, required }) => {
      const rows = Object.entries(fields).map(([key, field]) => {
        const below = paths.find((other) => other !== '' && isBelow(other, path === '' ? key : `${path}.${key}`));
        const more =
          elsewhere[key] ?? (below !== undefined && below !== path ? seeBelow(headings.get(below)!, below) : '');
        return rowOf(key, field, required.has(key), more);
      });
      const text = table(['Field', 'Type', 'Default', 'Description'], rows);
      return path === '' ? [text] : [`${'#'.repeat(level)} ${headings.get(path)}`, text];
    })
    .join('\n\n');
}

/** Whether a section is the one of a field: the field itself, its items, or its values. */
function isBelow(section: string, field: string): boolean {
  return section.startsWith(field) && /^(?:\[\]|\.\*)*$/.test(section.slice(field.length));
}

function headingOf(path: string, of: string | undefined): string {
  return of === undefined ? code(path) : `${code(path)} (${of})`;
}

function seeBelow(heading: string, path: string): string {
  return `Fields: [${code(path)}](#${anchor(heading)}).`;
}

function sectionsOf(schema: JsonSchema, path: string, elsewhere: Elsewhere): FieldSection[] {
  const { properties, items, additionalProperties: values } = schema as Parts;
  if (items) return sectionsOf(items, `${path}[]`, elsewhere);
  if (!properties) return values ? sectionsOf(values, path === '' ? '*' : `${path}.*`, elsewhere) : [];
  const nested = Object.entries(properties)
    .filter(([key]) => elsewhere[key] === undefined)
    .flatMap(([key, field]) => sectionsOf(field, path === '' ? key : `${path}.${key}`, elsewhere));
  return [{ path, fields: properties, required: requiredOf(schema) }, ...nested];
}

function rowOf(key: string, field: JsonSchema, isRequired: boolean, more: string): string[] {
  const example = value((field['examples'] as unknown[] | undefined)?.[0]);
  const words = [...descriptionOf(field), more, ...(example === '' ? [] : [`Example: ${example}`])];
  return [
    code(key),
    typeOf(field),
    isRequired ? 'required' : value(field['default']),
    words.filter((each) => each !== '').join(' '),
  ];
}

interface Parts {
  readonly properties?: Schemas;
  readonly items?: JsonSchema;
  /** Schema of a map's values; false for a closed object. */
  readonly additionalProperties?: JsonSchema | false;
  readonly required?: readonly string[];
  readonly allOf?: readonly { anyOf?: readonly [{ required: readonly string[] }] }[];
}

/** Required fields. Of a field with several spellings only the current one is included; of a group of alternatives none. */
function requiredOf(schema: JsonSchema): Set<string> {
  const { required = [], allOf = [] } = schema as Parts;
  return new Set([...required, ...allOf.flatMap(({ anyOf }) => anyOf?.[0].required ?? [])]);
}

function descriptionOf({ description, deprecated, writeOnly }: JsonSchema): string[] {
  const words = plain(String(description).replace(DURATION_WORDS, '').trim());
  return [...(deprecated ? ['*Deprecated.*'] : []), words, ...(writeOnly ? ['A secret: never printed.'] : [])];
}

function typeOf(schema: JsonSchema): string {
  const { type, enum: choices, anyOf, pattern, items, properties, additionalProperties: values } = schema;
  if (choices) return choiceOf(choices as unknown[]);
  if (anyOf) return (anyOf as JsonSchema[]).map(typeOf).join(' or ');
  if (pattern === DURATION_PATTERN) return 'duration';
  if (items) return `list of ${typeOf(items as JsonSchema)}`;
  if (values) return `map of ${typeOf(values as JsonSchema)}`;
  if (type === 'object') return properties ? 'object' : 'any object';
  return type === undefined ? 'any' : `${type}${rangeOf(schema)}`;
}

function choiceOf(choices: readonly unknown[]): string {
  return `${choices.length === 1 ? 'only' : 'one of'} ${choices.map(value).join(', ')}`;
}

function rangeOf({ minimum, maximum, exclusiveMinimum }: JsonSchema): string {
  if (exclusiveMinimum !== undefined) return `, more than ${exclusiveMinimum}`;
  if (minimum === undefined || minimum === Number.MIN_SAFE_INTEGER) return '';
  const isBounded = maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER;
  return isBounded ? `, ${minimum} to ${maximum}` : `, ${minimum} or more`;
}
