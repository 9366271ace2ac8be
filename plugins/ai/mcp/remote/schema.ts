import { HEADER_NAME_PATTERN, type Infer, type Schema } from '#contract';
import { secretField } from '../../lib/secret-field.ts';

/** At most one `*`, so that a comparison takes linear time. */
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
        'Text put before the names of the tools. No prefix of a server can be the beginning of another one or of a tool declared in `tools`. Default: the name and an underscore.',
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
        'Time for which a tool list is used. It is read again earlier if a response of the upstream server announces a change.',
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
  credentials: `\${TICKETS_TOKEN}`,
  headers: { 'X-Api-Key': `\${TICKETS_KEY}` },
  forward_headers: ['X-User'],
  list_ttl: '1m',
  max_tools: 20,
  max_list_bytes: 65_536,
} as const;

export type UpstreamConfig = Infer<typeof upstreamSchema>;

/** Text before the names of an upstream's tools. */
export function prefixOf({ name, prefix = `${name}_` }: UpstreamConfig): string {
  return prefix;
}
