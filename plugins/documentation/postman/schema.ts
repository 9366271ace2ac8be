import type { Schema, Written } from '#contract';

/** Pattern of a name with at least one character other than slashes and spaces. */
const SOME_NAME = '[^/\\s]';

export const serviceSchema = {
  type: 'object',
  title: 'Postman',
  description: 'Collection-level settings of `sluice export postman`.',
  examples: [
    {
      name: 'Shop',
      description: 'Everything about **orders**.',
      version: '1.4.0',
      folder: [{ name: 'Orders' }, { name: 'Books/Sci-Fi', description: 'Science fiction.' }],
    },
  ],
  properties: {
    name: { type: 'string', minLength: 1, description: 'Collection name. Default: the service name.' },
    description: { type: 'string', description: 'Purpose of the collection, in Markdown.' },
    version: {
      type: 'string',
      pattern: '^[0-9]+\\.[0-9]+\\.[0-9]+$',
      description: 'Collection version: three numbers separated by dots, without a leading v.',
      examples: ['1.4.0'],
    },
    folder: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: {
            type: 'string',
            pattern: SOME_NAME,
            description: 'Folder name. A slash nests folders: Books/Sci-Fi.',
          },
          description: { type: 'string', description: 'Folder description, in Markdown.' },
        },
      },
      description: 'Folders, in display order.',
    },
  },
} as const satisfies Schema;

export const endpointSchema = {
  type: 'object',
  title: 'Postman',
  description: 'Endpoint-level settings of `sluice export postman`.',
  examples: [{ name: 'One order', description: 'Returns one order by its number.', folder: 'Orders' }],
  properties: {
    name: { type: 'string', minLength: 1, description: 'Request name. Default: the last path segment.' },
    description: { type: 'string', description: 'Request description, in Markdown.' },
    folder: {
      type: 'string',
      pattern: SOME_NAME,
      description:
        'Folder that contains the request. It is created if it is not declared at the service level. Default: none.',
    },
  },
} as const satisfies Schema;

/** Settings of the collection, after validation. */
export type CollectionSettings = Written<typeof serviceSchema>;

/** Settings of an item, after validation. */
export type ItemSettings = Written<typeof endpointSchema>;
