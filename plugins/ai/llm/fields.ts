import { type DataObject, getPath, isObject, type Schema } from '#contract';
import type { Candidate } from './vendor.ts';

/** Returns the objects in the list at a path; empty if the path does not hold a list. */
export function objectsAt(data: DataObject, ...path: string[]): readonly DataObject[] {
  const list = getPath(data, path);
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** Returns the object at a path; empty if the path does not hold an object. */
export function objectAt(data: DataObject, ...path: string[]): DataObject {
  const value = getPath(data, path);
  return isObject(value) ? value : {};
}

/** Returns the text at a path; undefined if the path does not hold a text. */
export function textAt(data: DataObject, ...path: string[]): string | undefined {
  const value = getPath(data, path);
  return typeof value === 'string' ? value : undefined;
}

/** Returns the number of tokens at a path; 0 if the path does not hold a number. */
export function tokensAt(data: DataObject, ...path: string[]): number {
  const value = getPath(data, path);
  return typeof value === 'number' && value >= 0 && value < Number.MAX_SAFE_INTEGER ? value : 0;
}

/** Returns the texts under a key of the given objects, in order. Objects without such a text are omitted. */
export function textsIn(objects: readonly DataObject[], key: string): string[] {
  const texts: string[] = [];
  for (const object of objects) {
    const text = textAt(object, key);
    if (text !== undefined) texts.push(text);
  }
  return texts;
}

/** Candidate used if a response contains none. */
export const noCandidate: Candidate = { texts: [], stop: undefined };

/** Fields of `variables` that several vendors share. */
export const variableFields = {
  model: { type: 'string', minLength: 1, description: 'Name of the model.', examples: ['model-1'] },
  maxTokens: {
    type: 'integer',
    minimum: 1,
    description: "Maximum number of tokens in a response. Default: the provider's default.",
  },
  temperature: {
    type: 'number',
    minimum: 0,
    maximum: 2,
    description: "Sampling temperature: higher values give more varied output. Default: the provider's default.",
  },
  topP: {
    type: 'number',
    minimum: 0,
    maximum: 1,
    description:
      "Nucleus sampling: cumulative probability of the tokens to sample from. Default: the provider's default.",
  },
  topK: {
    type: 'integer',
    minimum: 0,
    description: "Top-k sampling: number of most likely tokens to sample from. Default: the provider's default.",
  },
  stops: {
    type: 'array',
    items: { type: 'string', minLength: 1 },
    description: 'Stop sequences: texts that end the response.',
  },
  extra: { type: 'object', description: 'Custom values, available to templates as `.variables.extra_payload`.' },
} as const satisfies Record<string, Schema>;

/** User-defined variables. */
export const otherVariables = {
  type: 'any',
  description: 'Custom value for templates.',
} as const satisfies Schema;

/** Schema of the variables of a vendor whose model is one of them. */
export function modelVariables<const Fields extends Readonly<Record<string, Schema>>>(fields: Fields) {
  const properties = { model: variableFields.model, ...fields, extra_payload: variableFields.extra };
  return { type: 'object', required: ['model'], values: otherVariables, properties } as const;
}
