// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a configuration
import type { Infer, Schema, Site } from '#contract';
import { hashNames } from './hashes.ts';
import { bitsFor, type Sizing } from './sizing.ts';

/** Maximum size of one filter, in bits: half a gibibyte. */
const MAX_BITS = 2 ** 32;

const elements = {
  type: 'integer',
  minimum: 1,
  description: 'Number of revocations that the Bloom filter is sized for.',
  examples: [1_000_000],
} as const;
const rate = {
  type: 'number',
  exclusiveMinimum: 0,
  maximum: 1,
  description:
    'False positive rate of the Bloom filter: probability that a valid token is rejected when the filter contains N revocations.',
  examples: [1e-7],
} as const;
const life = {
  type: 'integer',
  minimum: 1,
  description: 'Token lifetime in seconds. A revocation is kept for two to three times as long.',
  examples: [1500],
} as const;

/**
 * Fields shared by gateways and the revoke server. Both must use the same values for all fields that size the filter.
 */
export const filterFields = {
  N: elements,
  n: { ...elements, description: 'Alternative spelling of the field N.' },
  P: rate,
  p: { ...rate, description: 'Alternative spelling of the field P.' },
  hash_name: {
    type: 'string',
    enum: hashNames,
    description: 'Hash functions of the Bloom filter: one hash (`optimal`) or several standard hashes (`default`).',
    examples: ['optimal'],
  },
  TTL: life,
  ttl: { ...life, description: 'Alternative spelling of the field TTL.' },
  Ttl: { ...life, description: 'Alternative spelling of the field TTL.' },
  revoke_server_ping_interval: {
    type: 'duration',
    description:
      'Interval at which gateways report to the revoke server. The server removes a gateway that misses three reports.',
    default: '30s',
  },
  revoke_server_api_key: {
    type: 'string',
    minLength: 1,
    description: 'API key shared by the gateways, the revoke server and its clients.',
    examples: ['${REVOKE_KEY}'],
    secret: true,
  },
  revoke_server_max_workers: {
    type: 'integer',
    minimum: 1,
    maximum: 1000,
    description: 'Maximum number of gateways that the revoke server notifies concurrently.',
    default: 5,
  },
  revoke_server_max_retries: {
    type: 'integer',
    description: 'Maximum number of retries per gateway. Values below 0 mean 0.',
    default: 0,
  },
  port: {
    type: 'integer',
    minimum: 0,
    maximum: 65_535,
    description: 'Port on which each gateway receives revocations. 0 chooses a free port.',
    examples: [1234],
  },
  token_keys: {
    type: 'array',
    items: { type: 'string', minLength: 1 },
    minItems: 1,
    uniqueItems: true,
    description: 'Token claims that can be revoked.',
    examples: [['jti', 'sub']],
  },
  revoke_server_ping_url: {
    type: 'string',
    minLength: 1,
    description:
      "URL of the revoke server, ending in /instances. If unset, revocations are only received on the gateway's port.",
    examples: ['https://revoke.example.com/instances'],
  },
} as const satisfies { readonly [name: string]: Schema };

const sizeGroups = [
  ['N', 'n'],
  ['P', 'p'],
  ['TTL', 'ttl', 'Ttl'],
] as const;

export const schema = {
  type: 'object',
  title: 'Token revocation',
  description: 'Token revocation: rejects otherwise valid tokens that have been revoked.',
  required: ['hash_name', 'port', 'token_keys'],
  exactlyOneOf: sizeGroups,
  examples: [
    {
      N: 1_000_000,
      P: 1e-7,
      hash_name: 'optimal',
      TTL: 1500,
      port: 0,
      token_keys: ['jti'],
      revoke_server_api_key: '${K}',
    },
    {
      n: 1000,
      p: 0.001,
      ttl: 60,
      hash_name: 'default',
      port: 0,
      token_keys: ['jti', 'sub'],
      revoke_server_ping_url: 'https://revoke.example.com/instances',
      revoke_server_api_key: '${K}',
    },
  ],
  properties: filterFields,
} as const satisfies Schema;

export const serverSchema = {
  type: 'object',
  title: 'Revoke server',
  description: 'Revoke server: receives revocations and forwards them to every gateway.',
  required: ['hash_name', 'revoke_server_api_key'],
  exactlyOneOf: sizeGroups,
  examples: [{ N: 1_000_000, P: 1e-7, hash_name: 'optimal', TTL: 1500, revoke_server_api_key: '${REVOKE_KEY}' }],
  properties: filterFields,
} as const satisfies Schema;

export type RevokerConfig = Infer<typeof schema>;
export type RevokeServerConfig = Infer<typeof serverSchema>;

/** Reads the parameters of the filter. @throws ConfigError `REVOKER_RATE`, `REVOKER_SIZE`. */
export function sizingOf(site: Site<RevokerConfig> | Site<RevokeServerConfig>): Sizing {
  const { config } = site;
  const sizing: Sizing = {
    n: (config.N ?? config.n)!,
    p: (config.P ?? config.p)!,
    hash: config.hash_name,
    ttl: (config.TTL ?? config.ttl ?? config.Ttl)!,
  };
  if (sizing.p >= 1) {
    const field = config.P === undefined ? '/p' : '/P';
    throw site.fault('REVOKER_RATE', field, 'with a false positive rate of 1, every token would be rejected', {
      hint: '"P": 1e-7',
    });
  }
  const bits = bitsFor(sizing);
  if (!(bits <= MAX_BITS)) {
    const needed = Math.ceil(bits / 8 / 2 ** 20);
    const field = config.N === undefined ? '/n' : '/N';
    throw site.fault('REVOKER_SIZE', field, `each of three filters would take ${needed} MiB, more than 512`, {
      hint: 'lower N or raise P',
    });
  }
  return sizing;
}

/** Requires a minimum interval between requests. @throws ConfigError `REVOKER_INTERVAL`. */
export function checkInterval(site: Site<RevokerConfig> | Site<RevokeServerConfig>): void {
  if (site.config.revoke_server_ping_interval >= 1000) return;
  throw site.fault('REVOKER_INTERVAL', '/revoke_server_ping_interval', 'the interval is less than 1s', {
    hint: '"30s"',
  });
}
