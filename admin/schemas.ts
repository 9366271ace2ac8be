import type { Answer, JsonSchema } from './operation.ts';

/** The schemas that bodies are described with. */
export const text: JsonSchema = { type: 'string' };
export const whole: JsonSchema = { type: 'integer' };
export const flag: JsonSchema = { type: 'boolean' };
export const anything: JsonSchema = {};

export function listOf(items: JsonSchema): JsonSchema {
  return { type: 'array', items };
}

/** An object that always has all of its members. */
export function objectOf(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties) };
}

/** An object with any keys. */
export function mapOf(values: JsonSchema): JsonSchema {
  return { type: 'object', additionalProperties: values };
}

export function orNull(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: 'null' }] };
}

export function oneOf(words: readonly string[]): JsonSchema {
  return { type: 'string', enum: words };
}

/** Where something stands in the configuration; file, line and column where they are known. */
export const place: Readonly<Record<string, JsonSchema>> = { pointer: text, file: text, line: whole, column: whole };

/** An object of which only some members are always there. */
export function objectWith(properties: Readonly<Record<string, JsonSchema>>, ...required: string[]): JsonSchema {
  return { type: 'object', properties, required };
}

/** An answer in JSON. */
export function jsonAnswer(description: string, schema: JsonSchema): Answer {
  return { description, content: { 'application/json': schema } };
}

/** A problem of an operation, as `problemDocument` makes it. */
export const problemSchema: JsonSchema = { $ref: '#/components/schemas/Problem' };

/** A mistake in a configuration, as problems list them. */
export const issueSchema: JsonSchema = { $ref: '#/components/schemas/Problem/properties/errors/items' };

/** How a guard stands, as of `GuardState`. */
export const guardSchema: JsonSchema = objectOf({
  state: oneOf(['watching', 'passed', 'undecided', 'superseded', 'rolled-back', 'failed']),
  revision: whole,
  attempt: whole,
  endsAt: text,
  reason: orNull(text),
  rolledBackTo: orNull(whole),
});
