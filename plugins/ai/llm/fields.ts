import { type DataObject, getPath, isObject, type Schema } from '#contract';
import type { Candidate } from './vendor.ts';

/** The objects in a list at a path; none where there is no list. */
export function objectsAt(data: DataObject, ...path: string[]): readonly DataObject[] {
  const list = getPath(data, path);
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** The object at a path; an empty one where there is none. */
export function objectAt(data: DataObject, ...path: string[]): DataObject {
  const value = getPath(data, path);
  return isObject(value) ? value : {};
}

/** The text at a path; undefined where there is none. */
export function textAt(data: DataObject, ...path: string[]): string | undefined {
  const value = getPath(data, path);
  return typeof value === 'string' ? value : undefined;
}

/** The number of tokens at a path; 0 where there is none. */
export function tokensAt(data: DataObject, ...path: string[]): number {
  const value = getPath(data, path);
  return typeof value === 'number' && value >= 0 && value < Number.MAX_SAFE_INTEGER ? value : 0;
}

/** The texts of those objects of a list that have one under a key, in order. */
export function textsIn(objects: readonly DataObject[], key: string): string[] {
  const texts: string[] = [];
  for (const object of objects) {
    const text = textAt(object, key);
    if (text !== undefined) texts.push(text);
  }
  return texts;
}

/** The candidate of an answer that has none. */
export const noCandidate: Candidate = { texts: [], stop: undefined };

/** Fields of `variables` that several vendors have. */
export const variableFields = {
  model: { type: 'string', minLength: 1, description: 'Name of the model.', examples: ['model-1'] },
  maxTokens: { type: 'integer', minimum: 1, description: 'Most tokens of an answer.' },
  temperature: {
    type: 'number',
    minimum: 0,
    maximum: 2,
    description: 'How much chance there is in the choice of words.',
  },
  topP: { type: 'number', minimum: 0, maximum: 1, description: 'Share of the likeliest tokens that are chosen from.' },
  topK: { type: 'integer', minimum: 0, description: 'Number of the likeliest tokens that are chosen from.' },
  stops: { type: 'array', items: { type: 'string', minLength: 1 }, description: 'Texts at which an answer ends.' },
  extra: { type: 'object', description: 'Values of your own, for templates: `.variables.extra_payload`.' },
} as const satisfies Record<string, Schema>;

/** Variables of your own. */
export const otherVariables = {
  type: 'any',
  description: 'A value of your own, for templates.',
} as const satisfies Schema;
