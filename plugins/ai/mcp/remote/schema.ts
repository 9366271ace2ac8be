import { HEADER_NAME_PATTERN, type Infer, type Schema } from '#contract';
import { strategies } from '../../../shared/callers/client-identity.ts';
import { secretField } from '../../lib/secret-field.ts';

/** Pattern of tool names with at most one `*`, so that comparisons take linear time. */
const NAME_PATTERN = '^[^*]*\\*?[^*]*$';

const patterns = {
  type: 'array',
  items: { type: 'string', minLength: 1, pattern: NAME_PATTERN },
  minItems: 1,
  uniqueItems: true,
  default: ['*'],
} as const satisfies Schema;

const rule = {
  type: 'object',
  description: 'A claim that callers need for some of the tools.',
  required: ['claim', 'values'],
  properties: {
    claim: {
      type: 'string',
      minLength: 1,
      description: 'Claim name. Dots lead to nested claims unless a claim has the whole name.',
      examples: ['roles'],
    },
    values: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      minItems: 1,
      uniqueItems: true,
      description:
        'Accepted values. The claim, an element of a list, or a word of a text must be equal to one of them.',
      examples: [['editor', 'admin']],
    },
    tools: {
      ...patterns,
      description: 'Tools that need the claim: names at the upstream server, or patterns with one `*`.',
      examples: [['delete_*']],
    },
  },
} as const satisfies Schema;

const rate = {
  type: 'object',
  description:
    'A rate limit of each matching tool. Calls beyond it return a tool error and are not sent to the upstream server. At least one of `max_rate` and `client_max_rate` is required.',
  properties: {
    tools: {
      ...patterns,
      description: 'Tools with the limit: names at the upstream server, or patterns with one `*`.',
      examples: [['create_*']],
    },
    max_rate: {
      type: 'number',
      exclusiveMinimum: 0,
      description: 'Maximum number of calls to each tool per period, by all callers together. Default: no limit.',
      examples: [50],
    },
    client_max_rate: {
      type: 'number',
      exclusiveMinimum: 0,
      description: 'Maximum number of calls to each tool per period, by each caller. Default: no limit.',
      examples: [5],
    },
    every: { type: 'duration', description: 'Period of the limits, at least 1s.', default: '1s', examples: ['1m'] },
    strategy: {
      type: 'string',
      enum: strategies,
      description: 'Identification of callers for `client_max_rate`: by IP address, a header or a path parameter.',
      default: 'ip',
    },
    key: {
      type: 'string',
      description: 'Name of the header or path parameter. For `ip`, optionally a header that carries the address.',
      default: '',
      examples: ['X-User'],
    },
  },
} as const satisfies Schema;

const policy = {
  type: 'object',
  description: 'Conditions for calls to the matching tools.',
  required: ['expressions'],
  properties: {
    tools: {
      ...patterns,
      description: 'Tools with the conditions: names at the upstream server, or patterns with one `*`.',
      examples: [['delete_*']],
    },
    expressions: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      minItems: 1,
      description:
        'CEL expressions that must all be true; an expression that fails rejects the call. Variables: `tool` (name at the upstream server), `args` (arguments) and `claims` (claims of the caller, empty without authentication).',
      examples: [['args.project == claims.project', "!('force' in args)"]],
    },
  },
} as const satisfies Schema;

export const upstreamSchema = {
  type: 'object',
  description:
    'An MCP server (Streamable HTTP) whose tools the gateway offers as its own. While it is unavailable, its tools are missing from the list and calls return a tool error.',
  required: ['name', 'url'],
  properties: {
    name: {
      type: 'string',
      minLength: 1,
      description: 'Upstream name in logs. Must be unique in its server.',
      examples: ['tickets'],
    },
    url: {
      type: 'string',
      minLength: 1,
      description: 'URL of the upstream server, with http or https and without credentials.',
      examples: ['https://tickets.internal/mcp'],
    },
    prefix: {
      type: 'string',
      pattern: '^[A-Za-z0-9_.-]{0,64}$',
      description:
        'Prefix added to the tool names. Prefixes of upstream servers must not begin with one another, and no tool in `tools` can have a name that begins with a prefix. Default: the value of `name` and an underscore.',
      examples: ['tickets_'],
    },
    timeout: {
      type: 'duration',
      description: 'Timeout of a tool call and of reading the tool list, up to the timeout of the endpoint.',
      default: '10s',
    },
    tools: {
      ...patterns,
      description: 'Tools to offer: names at the upstream server, or patterns with one `*`.',
      examples: [['search_*', 'create_ticket']],
    },
    audiences: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      uniqueItems: true,
      description:
        'Audiences that can list and call the tools if the server has `tool_audience_source`. `*` matches any audience. Default: none.',
      examples: [['support']],
    },
    require_claims: {
      type: 'array',
      items: rule,
      description:
        'Claims that callers need. Callers see and call a tool only if they satisfy all rules that apply to it. Components such as auth/validator at the endpoint of the server provide the claims.',
      default: [],
      examples: [[{ claim: 'roles', values: ['editor'], tools: ['create_*'] }]],
    },
    rate_limits: {
      type: 'array',
      items: rate,
      description: 'Rate limits of the tools, in addition to the limits of the endpoint. All workers count together.',
      default: [],
      examples: [[{ tools: ['create_*'], client_max_rate: 5, every: '1m' }]],
    },
    policies: {
      type: 'array',
      items: policy,
      description: 'Policies for calls to the tools. A rejected call returns a tool error and is not sent.',
      default: [],
      examples: [[{ tools: ['delete_*'], expressions: ["'force' in args == false"] }]],
    },
    credentials: {
      ...secretField,
      description: 'Bearer token of the gateway at the upstream server. Use an environment variable.',
      examples: [`\${TICKETS_TOKEN}`],
    },
    headers: {
      type: 'object',
      values: { type: 'string', secret: true, pattern: '^[\\x20-\\x7e]*$' },
      description: 'Headers sent with every request to the upstream server.',
      default: {},
      examples: [{ 'X-Api-Key': `\${TICKETS_KEY}` }],
    },
    forward_headers: {
      type: 'array',
      items: { type: 'string', published: { pattern: HEADER_NAME_PATTERN } },
      uniqueItems: true,
      description:
        "Headers of the caller forwarded to the upstream server, for example `Authorization` to pass on the caller's identity. Callers with different values have separate sessions and tool lists.",
      default: [],
      examples: [['Authorization']],
    },
    list_ttl: {
      type: 'duration',
      description:
        'Time for which a tool list is used. It is read again earlier if the upstream server announces a change: in a response, or in the stream that the gateway opens to servers with the capability `listChanged`, unless `forward_headers` is set.',
      default: '5m',
    },
    max_tools: {
      type: 'integer',
      minimum: 1,
      maximum: 1000,
      description: 'Maximum number of tools. Further tools are ignored.',
      default: 128,
    },
    max_list_bytes: {
      type: 'integer',
      minimum: 1,
      maximum: 4_194_304,
      description: 'Maximum size of the descriptions and schemas of all tools, in bytes. Further tools are ignored.',
      default: 262_144,
    },
  },
} as const satisfies Schema;

export const upstreamExample = {
  name: 'tickets',
  url: 'https://tickets.internal/mcp',
  prefix: 'tickets.',
  timeout: '5s',
  tools: ['search_*', 'create_ticket'],
  require_claims: [{ claim: 'roles', values: ['editor'], tools: ['create_*'] }],
  rate_limits: [{ tools: ['create_*'], client_max_rate: 5, every: '1m' }],
  policies: [{ tools: ['create_*'], expressions: ['size(args) <= 10'] }],
  credentials: `\${TICKETS_TOKEN}`,
  headers: { 'X-Api-Key': `\${TICKETS_KEY}` },
  forward_headers: ['X-User'],
  list_ttl: '1m',
  max_tools: 20,
  max_list_bytes: 65_536,
} as const;

export type UpstreamConfig = Infer<typeof upstreamSchema>;

/** Prefix of the published names of an upstream server's tools. */
export function prefixOf({ name, prefix = `${name}_` }: UpstreamConfig): string {
  return prefix;
}
