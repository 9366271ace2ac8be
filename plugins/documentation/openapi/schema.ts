import type { Schema, Written } from '#contract';
import {
  bodyFields,
  comment,
  exampleField,
  examplesField,
  formatField,
  freeObject,
  jsonSchema,
  optional,
  parameterFields,
  responseFields,
  text,
} from './described-fields.ts';

/** Schema of a list of objects that have one required field. */
const list = <const Name extends string, const P extends Readonly<Record<string, Schema>>>(
  required: Name,
  description: string,
  properties: P,
) => ({ type: 'array', items: { type: 'object', required: [required], properties }, description }) as const;

/** Both levels use the same schema; fields that do not apply to a level are ignored there. */
const properties = {
  // Fields at the service level.
  version: { type: 'string', description: 'Version of the API.', default: '1.0.0' },
  terms_of_service: text('URL of the terms of service.'),
  contact_name: text('Contact of the API.'),
  contact_email: text('E-mail address of the contact.'),
  contact_url: text('Their page.'),
  license_name: text('License name.'),
  license_url: text('URL of the license. Requires license_name.'),
  host: text('Public host name of the API, with a port if it is not the default.', 'api.example.com'),
  base_path: { type: 'string', description: 'Public path prefix of all endpoints.', default: '/' },
  schemes: {
    type: 'array',
    items: { type: 'string', enum: ['http', 'https', 'ws', 'wss'] },
    uniqueItems: true,
    description: 'URL schemes of the API. Each scheme, combined with host and base_path, becomes a server.',
    default: ['http'],
  },
  servers: {
    ...list('url', 'Servers of the API, replacing host, base_path and schemes.', {
      url: { type: 'string', minLength: 1, description: 'Server URL. Can contain {variables}.' },
      description: text('Server description.'),
      variables: {
        type: 'object',
        values: { anyOf: [{ type: 'string' }, { type: 'object' }] },
        description: 'Variables of the URL by name, each as a default value or an OpenAPI server variable object.',
      },
      ...comment,
    }),
    examples: [[{ url: 'https://api.example.com' }]],
  },
  tag_definition: {
    type: 'array',
    items: {
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string', minLength: 1, description: 'Name of the tag.' },
        description: text('Description of the tag, in Markdown.'),
      },
    },
    description: 'Tags with descriptions, in display order.',
  },
  components_schemas: {
    type: 'object',
    values: jsonSchema('A schema, as an object or as its JSON in base64.'),
    description: 'Schemas by name. `ref` fields refer to these names.',
  },
  components_parameters: {
    anyOf: [
      {
        type: 'object',
        values: {
          type: 'object',
          required: ['name', 'in'],
          properties: {
            name: { type: 'string', minLength: 1, description: 'Name of the parameter, as in requests.' },
            in: { type: 'string', enum: ['path', 'query', 'header', 'cookie'], description: 'Location.' },
          },
          values: { type: 'any', description: 'Any other field of an OpenAPI parameter object.' },
        },
      },
      { type: 'array', items: { type: 'string', minLength: 1 }, uniqueItems: true },
    ],
    description:
      'Shared parameters. At the service level: OpenAPI parameter objects by name. At an endpoint: names of the shared parameters to use. A shared parameter replaces a parameter of the endpoint with the same name and location.',
  },
  jwt_key: {
    type: 'string',
    minLength: 1,
    description: 'Name of the security scheme for tokens.',
    default: 'KrakenD-JWT',
  },
  cookie_name: {
    type: 'string',
    minLength: 1,
    description: 'Name of the security scheme for tokens in a cookie.',
    default: 'SESSIONID',
  },
  serve: {
    type: 'object',
    required: ['path'],
    properties: {
      path: {
        type: 'string',
        pattern: '^/(?:[\\w.~-]+(?:/[\\w.~-]+)*)?$',
        description: 'Path of the documentation page. The document is served at openapi.json below it.',
      },
      audience: text('Audience of the served document. Default: all endpoints.'),
    },
    description: 'Serves the OpenAPI document of this gateway and its documentation page. Not available in KrakenD.',
    examples: [{ path: '/docs', audience: 'public' }],
  },
  // Fields at both levels.
  description: text('Description of the API or endpoint, in Markdown.'),
  custom_security_schemes: freeObject(
    'Security schemes. At the service level: OpenAPI security schemes by name. At an endpoint: the names of the required schemes, each with the value {}.',
  ),
  disable_default_response_definitions: {
    type: 'boolean',
    description: 'Disables the default responses: only responses defined here are documented.',
    default: false,
  },
  // Fields at the endpoint level.
  summary: text('One-line summary of the endpoint.'),
  tags: { type: 'array', items: { type: 'string' }, description: 'Tags. The first one groups the endpoint.' },
  operation_id: {
    type: 'string',
    minLength: 1,
    description: 'Operation ID for code generators. Default: derived from the method and the path.',
  },
  audience: {
    type: 'array',
    items: { type: 'string', minLength: 1 },
    description:
      'Audiences that see the endpoint in filtered exports; "*" means all audiences. Does not restrict access to the endpoint.',
  },
  param_definition: list('name', 'Documentation of the {placeholders} of the path.', {
    ...parameterFields,
    format: formatField,
    required: {
      type: 'boolean',
      description:
        'Marks the parameter as required. Always true in generated documents, because path parameters are never optional. Default: true.',
    },
    example: exampleField,
    examples: examplesField,
  }),
  query_definition: list('name', 'Documentation of the query parameters listed in input_query_strings.', {
    ...parameterFields,
    format: formatField,
    required: optional,
    example: exampleField,
  }),
  header_definition: list('name', 'Documentation of the headers listed in input_headers.', {
    ...parameterFields,
    required: optional,
  }),
  request_definition: list('content_type', 'Documentation of the request body.', {
    content_type: { type: 'string', minLength: 1, description: 'Media type. Must be unique.' },
    ...bodyFields,
  }),
  response_definition: {
    type: 'object',
    published: { propertyNames: { pattern: '^(default|[0-9]+|[@$_#].*)$' } },
    values: {
      anyOf: [
        { type: 'object', properties: responseFields },
        { type: 'array', items: { type: 'object', properties: responseFields } },
        { type: 'string' },
      ],
    },
    description:
      'Responses by status code or `default`. They replace the default responses. A list describes several media types of one status.',
  },
  example: { type: 'any', description: 'Deprecated: example of the 200 response.' },
  ...comment,
} as const satisfies { readonly [field: string]: Schema };

export const serviceSchema = {
  type: 'object',
  title: 'OpenAPI',
  description: 'API-level settings of `sluice export openapi`.',
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
  description: 'Endpoint-level settings of `sluice export openapi`.',
  examples: [
    {
      summary: 'One user',
      tags: ['users'],
      operation_id: 'getUser',
      audience: ['public'],
      response_definition: { 404: { description: 'User not found.' } },
    },
  ],
  properties,
} as const satisfies Schema;

/** The settings as written, after validation. */
export type OpenApiSettings = Partial<Written<typeof endpointSchema>>;

/** Settings that describe a parameter. */
export type ParameterDefinition = NonNullable<OpenApiSettings['param_definition']>[number] & {
  readonly format?: string | undefined;
  readonly example?: unknown;
  readonly examples?: object | undefined;
};

/** Settings that describe a body. */
export interface BodyDefinition {
  readonly description?: string | undefined;
  readonly content_type?: string | undefined;
  readonly example?: unknown;
  readonly examples?: object | undefined;
  readonly example_schema?: unknown;
  readonly ref?: string | undefined;
}
