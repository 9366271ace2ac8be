import type { Schema, Written } from '#contract';

const text = (description: string, ...examples: string[]) =>
  ({ type: 'string', description, ...(examples.length > 0 && { examples }) }) as const;

/** An object whose keys are all data: part of a document of its own. */
const freeObject = (description: string) => ({ type: 'object', description }) as const;

/** A JSON Schema as an object, or as its JSON in base64. */
const jsonSchema = (description: string) =>
  ({ anyOf: [{ type: 'object' }, { type: 'string' }, { type: 'boolean' }], description }) as const;

const comment = { '@comment': text('A note for those who read the configuration.') } as const;

const hide = { type: 'boolean', description: 'Leave it out of documents.', default: false } as const;

const parameterTypes = ['integer', 'number', 'string', 'boolean', 'object', 'array', 'float', 'date-time'] as const;
const parameterFormats = ['', 'int32', 'int64', 'float', 'double', 'date', 'date-time', 'byte', 'uuid'] as const;

const parameterFields = {
  name: { type: 'string', minLength: 1, description: 'Name, as the endpoint lists it.' },
  description: text('What it is for, in Markdown.'),
  type: { type: 'string', enum: parameterTypes, description: 'Type of the value.', default: 'string' },
  enum: { type: 'array', items: { type: 'any' }, description: 'The values it may have.' },
  hide,
  ...comment,
} as const;

const optional = {
  type: 'boolean',
  description: 'Clients must send it; the gateway does not insist.',
  default: false,
} as const;

const formatField = { type: 'string', enum: parameterFormats, description: 'Format of the value.' } as const;
const exampleField = { type: 'any', description: 'A value it may have.' } as const;
const examplesField = freeObject('Named examples, in the place of one.');

/** What a body holds, of a request or a response. */
const bodyFields = {
  description: text('What the body is, in Markdown.'),
  example: { type: 'any', description: 'A sample of the body.' },
  examples: examplesField,
  example_schema: jsonSchema('The JSON Schema of the body, as an object or as its JSON in base64.'),
  ref: { type: 'string', minLength: 1, description: 'The name of its schema among components_schemas.' },
  ...comment,
} as const;

/** One schema serves both levels: a field that means nothing where it stands is ignored. */
const properties = {
  // Of the service.
  version: { type: 'string', description: 'Version of the API.', default: '1.0.0' },
  terms_of_service: text('Address of the terms of service.'),
  contact_name: text('Who is responsible.'),
  contact_email: text('Their e-mail address.'),
  contact_url: text('Their page.'),
  license_name: text('Name of the licence.'),
  license_url: text('Address of the licence; needs license_name.'),
  host: text('Public name of the API, with a port where it is not the usual one.', 'api.example.com'),
  base_path: { type: 'string', description: 'Public path before the paths of endpoints.', default: '/' },
  schemes: {
    type: 'array',
    items: { type: 'string', enum: ['http', 'https', 'ws', 'wss'] },
    uniqueItems: true,
    description: 'With host and base_path, how the API is reached; one server for each.',
    default: ['http'],
  },
  servers: {
    type: 'array',
    items: {
      type: 'object',
      required: ['url'],
      properties: {
        url: { type: 'string', minLength: 1, description: 'Address, which may hold {variables}.' },
        description: text('What stands there.'),
        variables: {
          type: 'object',
          values: { anyOf: [{ type: 'string' }, { type: 'object' }] },
          description: 'The variables of the address: the default of each, or an object as OpenAPI has it.',
        },
        ...comment,
      },
    },
    description: 'Where the API is served; in the place of host, base_path and schemes.',
    examples: [[{ url: 'https://api.example.com' }]],
  },
  tag_definition: {
    type: 'array',
    items: {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string', minLength: 1, description: 'Name.' }, description: text('Description.') },
    },
    description: 'Tags with descriptions, in the order in which they are shown.',
  },
  components_schemas: {
    type: 'object',
    values: jsonSchema('A schema, as an object or as its JSON in base64.'),
    description: 'Schemas by name, that ref leads to.',
  },
  jwt_key: {
    type: 'string',
    minLength: 1,
    description: 'What the scheme of tokens is called.',
    default: 'KrakenD-JWT',
  },
  cookie_name: {
    type: 'string',
    minLength: 1,
    description: 'What the scheme of tokens in a cookie is called.',
    default: 'SESSIONID',
  },
  serve: {
    type: 'object',
    required: ['path'],
    properties: {
      path: {
        type: 'string',
        pattern: '^/(?:[\\w.~-]+(?:/[\\w.~-]+)*)?$',
        description: 'Path of a page for people; below it, at openapi.json, is the document.',
      },
      audience: text('Only endpoints for this audience. Default: all.'),
    },
    description: 'Serve the document of what this gateway serves; no field of the compatible product.',
    examples: [{ path: '/docs', audience: 'public' }],
  },
  // Of both.
  description: text('What the API, or the endpoint, is for, in Markdown.'),
  custom_security_schemes: freeObject(
    'At the service, schemes of authentication by name as OpenAPI has them; at an endpoint, the names of those that it asks for, each with {}.',
  ),
  disable_default_response_definitions: {
    type: 'boolean',
    description: 'Only describe responses that are defined: no 200, no 500 and none of the components.',
    default: false,
  },
  // Of endpoints.
  summary: text('One line on what the endpoint does.'),
  tags: { type: 'array', items: { type: 'string' }, description: 'Tags, the first of which groups it.' },
  operation_id: { type: 'string', minLength: 1, description: 'A name for programs. Default: method and path.' },
  audience: {
    type: 'array',
    items: { type: 'string', minLength: 1 },
    description: 'Who gets to see the endpoint in exports for an audience; "*" for each. Never changes what is served.',
  },
  param_definition: {
    type: 'array',
    items: {
      type: 'object',
      required: ['name'],
      properties: {
        ...parameterFields,
        format: formatField,
        required: { type: 'boolean', description: 'Always true in documents: a path has no optional variables.' },
        example: exampleField,
        examples: examplesField,
      },
    },
    description: 'On the {variables} of the path.',
  },
  query_definition: {
    type: 'array',
    items: {
      type: 'object',
      required: ['name'],
      properties: {
        ...parameterFields,
        format: formatField,
        required: optional,
        example: exampleField,
      },
    },
    description: 'On what input_query_strings lists.',
  },
  header_definition: {
    type: 'array',
    items: {
      type: 'object',
      required: ['name'],
      properties: {
        ...parameterFields,
        required: optional,
      },
    },
    description: 'On what input_headers lists.',
  },
  request_definition: {
    type: 'array',
    items: {
      type: 'object',
      required: ['content_type'],
      properties: {
        content_type: { type: 'string', minLength: 1, description: 'Media type; each once.' },
        ...bodyFields,
      },
    },
    description: 'The body of requests.',
  },
  response_definition: {
    type: 'object',
    published: { propertyNames: { pattern: '^(default|[0-9]+|[@$_#].*)$' } },
    values: {
      anyOf: [
        {
          type: 'object',
          properties: { content_type: text('Media type. Default: that of the output.'), ...bodyFields },
        },
        { type: 'string' },
      ],
    },
    description: 'Responses by status, or default; each takes the place of what is described unasked.',
  },
  example: { type: 'any', description: 'Old form: a sample of the response 200.' },
  ...comment,
} as const satisfies { readonly [field: string]: Schema };

export const serviceSchema = {
  type: 'object',
  title: 'OpenAPI',
  description: 'What `sluice export openapi` says of the whole API.',
  examples: [
    {
      version: '2.1.0',
      description: 'Users and their orders.',
      servers: [{ url: 'https://api.example.com' }],
      components_schemas: { User: { type: 'object', properties: { id: { type: 'integer' } } } },
      serve: { path: '/docs' },
    },
  ],
  properties,
} as const satisfies Schema;

export const endpointSchema = {
  type: 'object',
  title: 'OpenAPI',
  description: 'What `sluice export openapi` says of the endpoint.',
  examples: [
    {
      summary: 'One user',
      tags: ['users'],
      operation_id: 'getUser',
      audience: ['public'],
      response_definition: { 404: { description: 'There is no such user.' } },
    },
  ],
  properties,
} as const satisfies Schema;

/** The configuration as it is written, once it has been checked. */
export type OpenApiSettings = Partial<Written<typeof endpointSchema>>;

/** What is written on a parameter. */
export type ParameterDefinition = NonNullable<OpenApiSettings['param_definition']>[number] & {
  readonly format?: string | undefined;
  readonly example?: unknown;
  readonly examples?: object | undefined;
};

/** What is written on a body. */
export interface BodyDefinition {
  readonly description?: string | undefined;
  readonly content_type?: string | undefined;
  readonly example?: unknown;
  readonly examples?: object | undefined;
  readonly example_schema?: unknown;
  readonly ref?: string | undefined;
}
