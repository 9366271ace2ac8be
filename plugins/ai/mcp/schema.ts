import { HEADER_NAME_PATTERN, type Infer, pipeSchema, type Schema } from '#contract';
import { workflowComponents, workflowDefaults, workflowEncoding } from '../../shared/workflows/pipe.ts';
import { protectedResource } from './protected-resource-schema.ts';
import { upstreamExample, upstreamSchema } from './remote/schema.ts';

/** A timeout longer than any endpoint's, so that the timeout of the caller limits a workflow. */
const UNBOUNDED = '24h';

const hint = (description: string) => ({ type: 'boolean', description, default: false }) as const;

const workflow = {
  ...pipeSchema(
    {
      endpoint: {
        type: 'string',
        minLength: 1,
        description:
          'Path pattern that serves as the name in logs. Its {placeholders} are arguments that backends can use in their URLs. Clients cannot request the path.',
        examples: ['/weather/{city}'],
      },
      output_encoding: workflowEncoding(
        'Encoding of the result as text. `no-op` returns the body of the only backend unchanged.',
      ),
      timeout: {
        type: 'duration',
        description: 'Maximum duration of a call, up to the timeout of the called endpoint. Default: that timeout.',
        default: UNBOUNDED,
        examples: ['5s'],
      },
      ignore_errors: {
        type: 'boolean',
        description: 'Treats a call whose backends all failed as successful, with an empty result.',
        default: false,
      },
    },
    {
      description:
        'Backends that are called when the tool is called, one after another unless proxy.sequential is false. Cannot be combined with endpoint.',
      components: workflowComponents,
      defaults: workflowDefaults,
      listedQueries: true,
    },
  ),
  required: ['endpoint', 'backend'],
} as const satisfies Schema;

const tool = {
  type: 'object',
  description: 'A tool that clients can call.',
  required: ['name', 'title', 'description'],
  exactlyOneOf: [['workflow', 'endpoint']],
  properties: {
    name: {
      type: 'string',
      minLength: 1,
      description: 'Tool name that clients use. Must be unique in its server.',
      examples: ['weather'],
    },
    title: { type: 'string', description: 'Display name for people.', examples: ['Weather'] },
    description: {
      type: 'string',
      description: 'Purpose of the tool. Models choose tools by this text.',
      examples: ['The weather of a city.'],
    },
    type: {
      type: 'string',
      enum: ['text', 'audio', 'image', 'binary'],
      description:
        'Result type. `audio`, `image` and `binary` require a workflow or endpoint with output_encoding no-op, whose bytes they return; `binary` returns them as an embedded resource.',
      default: 'text',
    },
    annotations: {
      type: 'object',
      description: 'Hints about the side effects of the tool. Default: none are sent.',
      properties: {
        read_only_hint: hint('The tool does not change anything.'),
        destructive_hint: hint('The tool may delete or overwrite data.'),
        idempotent_hint: hint('Repeating a call with the same arguments has no further effect.'),
        open_world_hint: hint('The tool interacts with an open set of external systems, as a web search does.'),
      },
    },
    audiences: {
      type: 'array',
      items: { type: 'string' },
      uniqueItems: true,
      description:
        'Audiences that can list and call the tool if the server has `tool_audience_source`. `*` matches any audience. Default: none.',
      examples: [['admin', 'dev']],
    },
    input_headers: {
      type: 'array',
      items: { type: 'string', published: { pattern: HEADER_NAME_PATTERN } },
      uniqueItems: true,
      description:
        'Client headers forwarded to the workflow or endpoint. Headers with credentials must be listed as well; only trace headers are always forwarded.',
      default: [],
      examples: [['Authorization']],
    },
    input_schema: {
      type: 'object',
      description:
        'JSON Schema (2020-12) of the arguments. A call can have at most 1,000 arguments. Default for an endpoint: its path variables, its input_query_strings and the schema of validation/json-schema.',
      examples: [{ type: 'object', required: ['city'], properties: { city: { type: 'string' } } }],
    },
    output_schema: {
      type: 'object',
      description:
        'JSON Schema (2020-12) of the result, which is then also returned as structured content. Default for an endpoint: the schema of validation/response-json-schema.',
      examples: [{ type: 'object', required: ['celsius'], properties: { celsius: { type: 'number' } } }],
    },
    return_error_msg: {
      type: 'boolean',
      description: 'Returns the text of an error to clients instead of a generic message.',
      default: false,
    },
    workflow,
    endpoint: {
      type: 'string',
      minLength: 1,
      description:
        'Path of the endpoint that the tool calls, as written under "endpoints". All components of the endpoint apply. Arguments become its path parameters, query string and JSON body. Cannot be combined with workflow.',
      examples: ['/weather/{city}'],
    },
    method: {
      type: 'string',
      enum: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'QUERY'],
      description:
        'Method of the endpoint. Default: the only method of the path, or GET if there are several. Required for an endpoint with the method ANY.',
    },
  },
} as const satisfies Schema;

const audienceSource = {
  type: 'object',
  description:
    'Source of the audiences of a request, which decide the tools that it can list and call. Clients can send any header: set the header in the gateway, for example with `propagate_claims` of auth/validator. At least one of `header_name` and `param_name` is required; the values of both are combined. Default: all tools are available to all clients.',
  properties: {
    header_name: {
      type: 'string',
      minLength: 1,
      description:
        'Header that lists the audiences of the client, separated by commas or repeated. A tool is available to the audiences in its `audiences`.',
      examples: ['X-Role'],
    },
    param_name: {
      type: 'string',
      minLength: 1,
      description:
        'Path variable of the endpoint, without braces, that lists the audiences of the client, separated by commas.',
      examples: ['role'],
    },
    on_absent_value: {
      type: 'string',
      enum: ['deny', 'allow'],
      description: 'Tools that are available to requests without audiences. `deny`: none; `allow`: all.',
      default: 'deny',
    },
  },
} as const satisfies Schema;

const server = {
  type: 'object',
  description: 'A server of the Model Context Protocol.',
  required: ['name', 'title', 'version'],
  properties: {
    name: {
      type: 'string',
      minLength: 1,
      description: 'Server name that endpoints refer to. Must be unique.',
      examples: ['weather'],
    },
    title: { type: 'string', description: 'Display name for people.', examples: ['Weather'] },
    version: {
      type: 'string',
      description: 'Version of the MCP server that is reported to clients.',
      examples: ['1.0.0'],
    },
    instructions: {
      type: 'string',
      description: 'Instructions for models on how to use the MCP server. If empty, no instructions are sent.',
      default: '',
    },
    json_response: {
      type: 'boolean',
      description: 'Responds with JSON instead of an event stream with a single event, if the client accepts both.',
      default: false,
    },
    stateless: {
      type: 'boolean',
      description:
        'Disables sessions: every request is independent, and any instance can answer it. With sessions, each one can be used only by the client that opened it.',
      default: false,
    },
    ping_period: {
      type: 'duration',
      description: 'Interval of pings to clients that listen with GET. 0 disables pings.',
      default: '0s',
      examples: ['30s'],
    },
    sse_transport: {
      type: 'boolean',
      description:
        'Supports the HTTP+SSE transport of revision 2024-11-05 as well: clients listen with GET and receive responses over that stream. Cannot be combined with stateless.',
      default: false,
    },
    tool_audience_source: audienceSource,
    tools: { type: 'array', items: tool, description: 'Tools that clients can call.', default: [] },
    upstreams: {
      type: 'array',
      items: upstreamSchema,
      description:
        'Remote MCP servers whose tools are offered as well, after those in `tools`. With tool_audience_source, their `audiences` apply to all of their tools.',
      default: [],
    },
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
      audiences: ['staff'],
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
    { servers: [{ ...weather, tool_audience_source: { header_name: 'X-Role' } }] },
    {
      servers: [
        {
          ...weather,
          instructions: 'Ask for one city at a time.',
          json_response: true,
          ping_period: '30s',
          sse_transport: true,
          tool_audience_source: { header_name: 'X-Role', param_name: 'role', on_absent_value: 'allow' },
          protected_resource: {
            resource: 'https://api.example.com/mcp',
            authorization_servers: ['https://id.example.com'],
            scopes_supported: ['weather'],
          },
        },
        { ...weather, name: 'anybody', stateless: true, tool_audience_source: { header_name: 'X-Role' } },
        { name: 'assistant', title: 'Assistant', version: '1.0.0', stateless: true, upstreams: [upstreamExample] },
      ],
    },
  ],
  properties: { servers: { type: 'array', items: server, description: 'MCP servers, each with its own tools.' } },
} as const satisfies Schema;

export const endpointSchema = {
  type: 'object',
  title: 'Endpoint of an MCP server',
  description:
    'Serves an MCP server at the endpoint; `backend` is not needed. If the path has a single endpoint and its `method` is not set, the endpoint serves POST and, with sessions, also GET and DELETE.',
  required: ['server_name'],
  examples: [{ server_name: 'weather' }],
  properties: {
    server_name: { type: 'string', description: 'Name of a server declared at the root.', examples: ['weather'] },
  },
} as const satisfies Schema;

export type McpConfig = Infer<typeof serviceSchema>;
export type ServerConfig = McpConfig['servers'][number];
export type ToolConfig = NonNullable<ServerConfig['tools']>[number];
export type EndpointSettings = Infer<typeof endpointSchema>;
