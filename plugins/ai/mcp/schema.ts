import { HEADER_NAME_PATTERN, type Infer, pipeSchema, type Schema } from '#contract';
import { workflowComponents, workflowDefaults, workflowEncoding } from '../../services/workflow-pipe.ts';

/** Longer than any endpoint lasts: what is around a workflow bounds it. */
const UNBOUNDED = '24h';

const hint = (description: string) => ({ type: 'boolean', description, default: false }) as const;

const workflow = {
  ...pipeSchema(
    {
      endpoint: {
        type: 'string',
        minLength: 1,
        description:
          'Name in logs; its {placeholders} are the arguments that backends may use. No client can ask for it.',
        examples: ['/weather/{city}'],
      },
      output_encoding: workflowEncoding(
        'How the data of the result is written as text; no-op hands on the body of its one backend.',
      ),
      timeout: {
        type: 'duration',
        description: 'Longest time of a call. Default, and at most: that of the endpoint that is called.',
        default: UNBOUNDED,
        examples: ['5s'],
      },
      ignore_errors: {
        type: 'boolean',
        description: 'A call is no failure though no backend succeeded: its result is then empty.',
        default: false,
      },
    },
    {
      description:
        'What a call of the tool does where it names no endpoint: backends, one after another unless proxy.sequential is false.',
      components: workflowComponents,
      defaults: workflowDefaults,
      listedQueries: true,
    },
  ),
  required: ['endpoint', 'backend'],
} as const satisfies Schema;

const tool = {
  type: 'object',
  description: 'What clients may call.',
  required: ['name', 'title', 'description'],
  exactlyOneOf: [['workflow', 'endpoint']],
  properties: {
    name: { type: 'string', minLength: 1, description: 'What clients call it by.', examples: ['weather'] },
    title: { type: 'string', description: 'What people are shown.', examples: ['Weather'] },
    description: {
      type: 'string',
      description: 'What it is good for: models choose by it.',
      examples: ['The weather of a city.'],
    },
    type: {
      type: 'string',
      enum: ['text', 'audio', 'image'],
      description: 'What comes of it; with audio and image the bytes of a no-op workflow.',
      default: 'text',
    },
    annotations: {
      type: 'object',
      description: 'What clients may be careful about; nothing is sent where it is not written.',
      properties: {
        read_only_hint: hint('It changes nothing.'),
        destructive_hint: hint('What it changes may be lost.'),
        idempotent_hint: hint('Another call with the same arguments changes nothing more.'),
        open_world_hint: hint('It reaches beyond what is known here, as a search does.'),
      },
    },
    input_headers: {
      type: 'array',
      items: { type: 'string', published: { pattern: HEADER_NAME_PATTERN } },
      uniqueItems: true,
      description:
        'Headers of the client that the workflow or the endpoint gets, its credentials included; no other goes along but those of its trace.',
      default: [],
      examples: [['Authorization']],
    },
    input_schema: {
      type: 'object',
      description:
        'A JSON Schema (2020-12) of the arguments, of which a call has at most 1,000. Default, of an endpoint: variables of its path, its input_query_strings and what validation/json-schema says of its body.',
      examples: [{ type: 'object', required: ['city'], properties: { city: { type: 'string' } } }],
    },
    output_schema: {
      type: 'object',
      description:
        'A JSON Schema (2020-12) of the data of the result, which is then sent as such, too. Default, of an endpoint: that of validation/response-json-schema.',
      examples: [{ type: 'object', required: ['celsius'], properties: { celsius: { type: 'number' } } }],
    },
    return_error_msg: {
      type: 'boolean',
      description: 'Clients are told what failed, and not only that something has.',
      default: false,
    },
    workflow,
    endpoint: {
      type: 'string',
      minLength: 1,
      description:
        'In the place of a workflow an endpoint, as it is written under "endpoints": a call is a request of it, with all that stands around it. Arguments are variables of its path, its query and, as JSON, its body.',
      examples: ['/weather/{city}'],
    },
    method: {
      type: 'string',
      enum: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      description: 'Method of the endpoint. Default: its only method; GET where it has several.',
    },
  },
} as const satisfies Schema;

const protectedResource = {
  type: 'object',
  description:
    'Where clients get tokens (RFC 9728): told at `/.well-known/oauth-protected-resource`, where 401 leads them. The tokens are checked by auth/validator at the endpoint.',
  required: ['resource', 'authorization_servers'],
  properties: {
    resource: {
      type: 'string',
      description: 'Public address of the endpoint, which tokens have as their audience.',
      examples: ['https://api.example.com/mcp'],
    },
    authorization_servers: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      minItems: 1,
      description: 'Issuers of tokens.',
      examples: [['https://id.example.com']],
    },
    scopes_supported: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      uniqueItems: true,
      description: 'Scopes that clients may ask for.',
      default: [],
      examples: [['tools']],
    },
  },
} as const satisfies Schema;

const server = {
  type: 'object',
  description: 'A server of the Model Context Protocol.',
  required: ['name', 'title', 'version'],
  properties: {
    name: { type: 'string', minLength: 1, description: 'What endpoints name it by.', examples: ['weather'] },
    title: { type: 'string', description: 'What people are shown.', examples: ['Weather'] },
    version: { type: 'string', description: 'Of its tools, as its maker counts.', examples: ['1.0.0'] },
    instructions: { type: 'string', description: 'What models are to know of it; empty for nothing.', default: '' },
    json_response: {
      type: 'boolean',
      description: 'Answers are JSON; else a stream of one event, unless the client takes only the other.',
      default: false,
    },
    stateless: {
      type: 'boolean',
      description:
        'There are no sessions: every request stands alone, and any instance can answer it. A session serves only the client that opened it.',
      default: false,
    },
    ping_period: {
      type: 'duration',
      description: 'How often clients that listen with GET are asked whether they are there; 0 for never.',
      default: '0s',
      examples: ['30s'],
    },
    sse_transport: {
      type: 'boolean',
      description:
        'Serves clients of the revision 2024-11-05, too: who listens with GET and has no session is sent where to post, and has its answers over that stream. Not with stateless.',
      default: false,
    },
    tools: { type: 'array', items: tool, description: 'What clients may call.', default: [] },
    protected_resource: protectedResource,
  },
} as const satisfies Schema;

const weather = {
  name: 'weather',
  title: 'Weather',
  version: '1.0.0',
  tools: [
    {
      name: 'now',
      title: 'Weather now',
      description: 'The weather of a city.',
      annotations: { read_only_hint: true },
      input_headers: ['Authorization'],
      input_schema: { type: 'object', required: ['city'], properties: { city: { type: 'string' } } },
      output_schema: { type: 'object' },
      return_error_msg: true,
      workflow: {
        endpoint: '/weather/{city}',
        backend: [{ url_pattern: '/cities/{city}', host: ['http://127.0.0.1:8081'] }],
      },
    },
  ],
} as const;

export const serviceSchema = {
  type: 'object',
  title: 'Servers of the Model Context Protocol',
  required: ['servers'],
  examples: [
    { servers: [weather] },
    {
      servers: [
        {
          ...weather,
          instructions: 'Ask for one city at a time.',
          json_response: true,
          ping_period: '30s',
          sse_transport: true,
          protected_resource: {
            resource: 'https://api.example.com/mcp',
            authorization_servers: ['https://id.example.com'],
            scopes_supported: ['weather'],
          },
        },
        { ...weather, name: 'anybody', stateless: true },
      ],
    },
  ],
  properties: { servers: { type: 'array', items: server, description: 'Servers, each with tools of its own.' } },
} as const satisfies Schema;

export const endpointSchema = {
  type: 'object',
  title: 'Entry of a server of the Model Context Protocol',
  required: ['server_name'],
  examples: [{ server_name: 'weather' }],
  properties: {
    server_name: { type: 'string', description: 'The server, by its name at the root.', examples: ['weather'] },
  },
} as const satisfies Schema;

export type McpConfig = Infer<typeof serviceSchema>;
export type ServerConfig = McpConfig['servers'][number];
export type ToolConfig = NonNullable<ServerConfig['tools']>[number];
export type EndpointSettings = Infer<typeof endpointSchema>;
