import type { Schema, Written } from '#contract';

/** A name of which something is left without its slashes and spaces. */
const SOME_NAME = '[^/\\s]';

export const serviceSchema = {
  type: 'object',
  title: 'Postman',
  description: 'What `sluice export postman` says of the whole collection.',
  examples: [
    {
      name: 'Shop',
      description: 'Everything about **orders**.',
      version: '1.4.0',
      folder: [{ name: 'Orders' }, { name: 'Books/Sci-Fi', description: 'Science fiction.' }],
    },
  ],
  properties: {
    name: { type: 'string', minLength: 1, description: 'Name of the collection. Default: that of the service.' },
    description: { type: 'string', description: 'What the collection is for, in Markdown.' },
    version: {
      type: 'string',
      pattern: '^[0-9]+\\.[0-9]+\\.[0-9]+$',
      description: 'Version of the collection: three numbers, without v.',
      examples: ['1.4.0'],
    },
    folder: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string', pattern: SOME_NAME, description: 'Name; a / in it nests: Books/Sci-Fi.' },
          description: { type: 'string', description: 'What it holds, in Markdown.' },
        },
      },
      description: 'Folders, in the order in which they are shown.',
    },
  },
} as const satisfies Schema;

export const endpointSchema = {
  type: 'object',
  title: 'Postman',
  description: 'What `sluice export postman` says of the endpoint.',
  examples: [{ name: 'One order', description: 'By its number.', folder: 'Orders' }],
  properties: {
    name: { type: 'string', minLength: 1, description: 'Name of the request. Default: the end of the path.' },
    description: { type: 'string', description: 'What it does, in Markdown.' },
    folder: {
      type: 'string',
      pattern: SOME_NAME,
      description: 'The folder it is put in, which is made where the service has none of that name. Default: none.',
    },
  },
} as const satisfies Schema;

/** What is written on the collection, once it has been checked. */
export type CollectionSettings = Written<typeof serviceSchema>;

/** What is written on an item, once it has been checked. */
export type ItemSettings = Written<typeof endpointSchema>;
