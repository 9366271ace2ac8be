/** JSON Schema, as the description of the API prints it. */
export type JsonSchema = { readonly [keyword: string | symbol]: unknown };

/** What an operation answers with one status. */
export interface ResponseSchema {
  readonly description: string;
  /** Media type to the schema of its body; none for an empty body. */
  readonly content?: { readonly [mediaType: string]: JsonSchema };
}

/** The schemas that bodies are described with. */
export const text: JsonSchema = { type: 'string' };
export const whole: JsonSchema = { type: 'integer' };
export const flag: JsonSchema = { type: 'boolean' };
export const anything: JsonSchema = {};

/** Under this a schema carries its name; it is described once, and everything else refers to it. */
export const schemaName = Symbol('name');

/** @param name in the description, differs for every schema. */
export function named(name: string, schema: JsonSchema): JsonSchema {
  return { ...schema, [schemaName]: name };
}

export function listOf(items: JsonSchema): JsonSchema {
  return { type: 'array', items };
}

/** An object that always has all of its members, and no others. */
export function objectOf(name: string, properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return objectWith(name, properties, ...Object.keys(properties));
}

/** An object of which only some members are always there. */
export function objectWith(
  name: string,
  properties: Readonly<Record<string, JsonSchema>>,
  ...required: string[]
): JsonSchema {
  return named(name, { type: 'object', properties, required, additionalProperties: false });
}

/** An object with any keys. */
export function mapOf(values: JsonSchema): JsonSchema {
  return { type: 'object', additionalProperties: values };
}

/** A document that is described elsewhere. */
export function documentOf(name: string, description: string): JsonSchema {
  return named(name, { type: 'object', description, additionalProperties: true });
}

export function orNull(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: 'null' }] };
}

export function oneOf(words: readonly string[]): JsonSchema {
  return { type: 'string', enum: words };
}

/** Where something stands in the configuration; file, line and column where they are known. */
export const place: Readonly<Record<string, JsonSchema>> = { pointer: text, file: text, line: whole, column: whole };

export const placeSchema = objectWith('Place', place, 'pointer');

/** An answer in JSON. */
export function jsonResponse(description: string, schema: JsonSchema): ResponseSchema {
  return { description, content: { 'application/json': schema } };
}

/** A configuration, whatever it is written in. */
export const configSchema = documentOf('Configuration', 'A configuration, as of GET /v1/schema.');

/** A range of the configuration. */
const span = { ...place, endLine: whole, endColumn: whole };

/** A mistake in a configuration, as problems list them. */
export const issueSchema = objectWith(
  'Issue',
  {
    ...span,
    severity: text,
    code: text,
    namespace: text,
    message: text,
    value: text,
    hint: text,
    related: listOf(objectWith('RelatedPlace', { ...span, message: text }, 'pointer')),
  },
  'pointer',
  'severity',
  'code',
  'namespace',
  'message',
);

/** What went wrong (RFC 9457), as `problemDocument` makes it. */
export const problemSchema = objectWith(
  'Problem',
  {
    type: text,
    title: text,
    status: whole,
    detail: text,
    instance: text,
    requestId: text,
    attempt: whole,
    phase: text,
    revision: whole,
    errors: listOf(issueSchema),
    errorsTruncated: whole,
    warnings: listOf(issueSchema),
  },
  'type',
  'title',
  'status',
  'detail',
);

/** How a guard stands, as of `GuardState`. */
export const guardSchema = objectOf('Guard', {
  state: oneOf(['watching', 'passed', 'undecided', 'superseded', 'rolled-back', 'failed']),
  revision: whole,
  attempt: whole,
  endsAt: text,
  reason: orNull(text),
  rolledBackTo: orNull(whole),
});
