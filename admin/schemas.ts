/** JSON Schema, as printed in the API description. */
export type JsonSchema = { readonly [keyword: string | symbol]: unknown };

/** Response of an operation with one status code. */
export interface ResponseSchema {
  readonly description: string;
  /** Body schema by media type; absent for an empty body. */
  readonly content?: { readonly [mediaType: string]: JsonSchema };
}

/** Schemas from which body schemas are built. */
export const text: JsonSchema = { type: 'string' };
export const whole: JsonSchema = { type: 'integer' };
export const flag: JsonSchema = { type: 'boolean' };
export const anything: JsonSchema = {};

/** Key under which a schema carries its name; a named schema is defined once and referenced everywhere else. */
export const schemaName = Symbol('name');

/** @param name name in the description; must be unique. */
export function named(name: string, schema: JsonSchema): JsonSchema {
  return { ...schema, [schemaName]: name };
}

export function listOf(items: JsonSchema): JsonSchema {
  return { type: 'array', items };
}

/** Object whose members are all required, without additional ones. */
export function objectOf(name: string, properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return objectWith(name, properties, ...Object.keys(properties));
}

/** Object of which only some members are required. */
export function objectWith(
  name: string,
  properties: Readonly<Record<string, JsonSchema>>,
  ...required: string[]
): JsonSchema {
  return named(name, { type: 'object', properties, required, additionalProperties: false });
}

/** Object with arbitrary keys. */
export function mapOf(values: JsonSchema): JsonSchema {
  return { type: 'object', additionalProperties: values };
}

/** A document that is defined elsewhere. */
export function documentOf(name: string, description: string): JsonSchema {
  return named(name, { type: 'object', description, additionalProperties: true });
}

export function orNull(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: 'null' }] };
}

export function oneOf(words: readonly string[]): JsonSchema {
  return { type: 'string', enum: words };
}

/** Position in the configuration; file, line and column when known. */
export const place: Readonly<Record<string, JsonSchema>> = { pointer: text, file: text, line: whole, column: whole };

export const placeSchema = objectWith('Place', place, 'pointer');

/** A JSON response. */
export function jsonResponse(description: string, schema: JsonSchema): ResponseSchema {
  return { description, content: { 'application/json': schema } };
}

/** A configuration in any format. */
export const configSchema = documentOf('Configuration', 'A configuration, as described by GET /v1/schema.');

/** A range of the configuration. */
const span = { ...place, endLine: whole, endColumn: whole };

/** An error in a configuration, as listed by problems. */
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
    fixable: flag,
    related: listOf(objectWith('RelatedPlace', { ...span, message: text }, 'pointer')),
  },
  'pointer',
  'severity',
  'code',
  'namespace',
  'message',
);

/** A problem (RFC 9457), as created by `problemDocument`. */
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

/** State of the guard that monitors a change. */
export const guardSchema = objectOf('Guard', {
  state: oneOf(['watching', 'passed', 'undecided', 'superseded', 'rolled-back', 'failed']),
  revision: whole,
  attempt: whole,
  endsAt: text,
  reason: orNull(text),
  rolledBackTo: orNull(whole),
});

const differenceSchema = objectOf('ReplayChange', {
  endpoint: text,
  cause: text,
  at: text,
  requests: whole,
  settings: listOf(objectOf('ReplaySetting', { op: oneOf(['add', 'replace', 'remove']), pointer: text })),
});

/** Outcome of replaying recorded requests with a new configuration. */
export const replaySchema = objectOf('Replay', {
  strict: flag,
  requests: whole,
  incomplete: whole,
  unfaithful: whole,
  changes: listOf(differenceSchema),
  accepted: whole,
  hidden: whole,
  durationMs: whole,
  failure: orNull(text),
});

/** State and result of a shadow run. */
export const shadowSchema = objectOf('Shadow', {
  state: oneOf(['running', 'finished', 'stopped', 'superseded', 'failed']),
  attempt: whole,
  revision: whole,
  sample: { type: 'number' },
  startedAt: text,
  endsAt: text,
  compared: whole,
  different: whole,
  unstable: whole,
  refused: whole,
  refusals: listOf(text),
  skipped: objectOf('ShadowSkipped', {
    busy: whole,
    incomplete: whole,
    unsuitable: whole,
    budget: whole,
    limited: whole,
  }),
  changes: listOf(differenceSchema),
  hidden: whole,
  cpuMs: whole,
  reason: orNull(text),
});
