import { HEADER_NAME_PATTERN } from './headers.ts';

/** Names, each once. */
export const names = (description: string, ...example: string[]) =>
  ({ type: 'array', items: { type: 'string' }, uniqueItems: true, description, examples: [example] }) as const;

/** Names of headers, each once. */
export const headerNames = (description: string, ...example: string[]) =>
  ({
    ...names(description, ...example),
    items: { type: 'string', published: { pattern: HEADER_NAME_PATTERN } },
  }) as const;

/** The same, or a single empty name. */
export const headerFilter = (description: string, ...example: string[]) => {
  const named = { type: 'array', items: { type: 'string', pattern: HEADER_NAME_PATTERN } };
  const empty = { type: 'array', items: { type: 'string', enum: [''] } };
  return { ...names(description, ...example), published: { allOf: [{ anyOf: [named, empty] }] } } as const;
};
