import type { Parameter } from './operation.ts';

/** Number of a revision or an attempt in a path. */
export function numberInPath(name: string, description: string): Parameter {
  return { name, in: 'path', description, schema: { type: 'integer', minimum: 1 }, required: true };
}

export const revealParameter: Parameter = {
  name: 'reveal',
  in: 'query',
  description: 'Show secrets; needs the scope secrets.',
  schema: { type: 'boolean', default: false },
};

/** Headers of everything that changes what serves. */
export const changeHeaders: readonly Parameter[] = [
  {
    name: 'If-Match',
    in: 'header',
    description: 'ETag of the revision that is to be changed: another one serves, 412.',
    schema: { type: 'string' },
  },
  {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'The same key again, within ten minutes, is answered with the first result.',
    schema: { type: 'string', maxLength: 255 },
  },
];
