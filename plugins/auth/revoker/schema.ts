import type { Infer, Schema, Site } from '#contract';
import { hashNames } from './hashes.ts';
import { bitsFor, type Sizing } from './sizing.ts';

/** Bits of one filter at most: half a gibibyte. */
const MAX_BITS = 2 ** 32;

const elements = {
  type: 'integer',
  minimum: 1,
  description: 'How many revocations the filter is made for.',
  examples: [1_000_000],
} as const;
const rate = {
  type: 'number',
  exclusiveMinimum: 0,
  maximum: 1,
  description: 'How often a token that was not revoked is taken for one that was, once so many are.',
  examples: [1e-7],
} as const;
const life = {
  type: 'integer',
  minimum: 1,
  description: 'How long tokens live, in seconds: a revocation holds for more than twice as long, at most three times.',
  examples: [1500],
} as const;

/** Fields of gateways and of the revoke server, which must agree on all that size the filter. */
export const filterFields = {
  N: elements,
  n: { ...elements, description: 'N in another letter case.' },
  P: rate,
  p: { ...rate, description: 'P in another letter case.' },
  hash_name: {
    type: 'string',
    enum: hashNames,
    description: 'How the bits of an element are chosen: with one hash (optimal) or with several usual ones.',
    examples: ['optimal'],
  },
  TTL: life,
  ttl: { ...life, description: 'TTL in another letter case.' },
  Ttl: { ...life, description: 'TTL in another letter case.' },
  revoke_server_ping_interval: {
    type: 'duration',
    description:
      'How often gateways tell the revoke server that they are there; it forgets who has missed three times.',
    default: '30s',
  },
  revoke_server_api_key: {
    type: 'string',
    minLength: 1,
    description: 'Secret that is shared by gateways, the revoke server and whoever revokes.',
    examples: ['%{REVOKE_KEY}'],
    secret: true,
  },
  revoke_server_max_workers: {
    type: 'integer',
    minimum: 1,
    maximum: 1000,
    description: 'Gateways that the revoke server tells at the same time.',
    default: 5,
  },
  revoke_server_max_retries: {
    type: 'integer',
    description: 'How often it tries again to tell one; below 0 means 0.',
    default: 0,
  },
  port: {
    type: 'integer',
    minimum: 0,
    maximum: 65_535,
    description: 'Port on which each gateway is told of revocations; 0 for any that is free.',
    examples: [1234],
  },
  token_keys: {
    type: 'array',
    items: { type: 'string', minLength: 1 },
    minItems: 1,
    uniqueItems: true,
    description: 'Claims that revocations are about.',
    examples: [['jti', 'sub']],
  },
  revoke_server_ping_url: {
    type: 'string',
    minLength: 1,
    description: 'Address of the revoke server with /instances; without it revocations are added at the port only.',
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
  description: 'Which tokens are refused though they are good otherwise, and where that is said.',
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
      revoke_server_api_key: '%{K}',
    },
    {
      n: 1000,
      p: 0.001,
      ttl: 60,
      hash_name: 'default',
      port: 0,
      token_keys: ['jti', 'sub'],
      revoke_server_ping_url: 'https://revoke.example.com/instances',
      revoke_server_api_key: '%{K}',
    },
  ],
  properties: filterFields,
} as const satisfies Schema;

export const serverSchema = {
  type: 'object',
  title: 'Revoke server',
  description: 'Takes revocations and tells every gateway of them.',
  required: ['hash_name', 'revoke_server_api_key'],
  exactlyOneOf: sizeGroups,
  examples: [{ N: 1_000_000, P: 1e-7, hash_name: 'optimal', TTL: 1500, revoke_server_api_key: '%{REVOKE_KEY}' }],
  properties: filterFields,
} as const satisfies Schema;

export type RevokerConfig = Infer<typeof schema>;
export type RevokeServerConfig = Infer<typeof serverSchema>;

/** What the filter is made for. Codes: `REVOKER_RATE`, `REVOKER_SIZE`. */
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
    throw site.fault('REVOKER_RATE', field, 'with a rate of 1 every token would be refused', { hint: '"P": 1e-7' });
  }
  const bits = bitsFor(sizing);
  if (!(bits <= MAX_BITS)) {
    const needed = Math.ceil(bits / 8 / 2 ** 20);
    const field = config.N === undefined ? '/n' : '/N';
    throw site.fault('REVOKER_SIZE', field, `each of three filters would take ${needed} MiB, more than 512`, {
      hint: 'a smaller N, or a larger P',
    });
  }
  return sizing;
}

/** Neither side is asked without a pause. Code: `REVOKER_INTERVAL`. */
export function checkInterval(site: Site<RevokerConfig> | Site<RevokeServerConfig>): void {
  if (site.config.revoke_server_ping_interval >= 1000) return;
  throw site.fault('REVOKER_INTERVAL', '/revoke_server_ping_interval', 'the interval is less than 1s', {
    hint: '"30s"',
  });
}
