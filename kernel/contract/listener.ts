import { TRUSTED_PEER_PATTERN } from '../net/address-pattern.ts';
import type { Schema } from './schema.ts';

/** PROXY protocol on the listening port. */
export const proxyProtocolSchema = {
  type: 'object',
  description:
    "PROXY protocol on the listening port, versions 1 and 2: a load balancer or proxy announces the address of each client in a header before the first request or TLS handshake. Rate limits, filters, logs and X-Forwarded-For then use the client's address instead of the load balancer's. Connections from trusted addresses must begin with the header; connections from other addresses must not.",
  examples: [{ trusted: ['10.0.0.0/8'] }],
  required: ['trusted'],
  properties: {
    trusted: {
      type: 'array',
      items: { type: 'string', published: { pattern: TRUSTED_PEER_PATTERN } },
      minItems: 1,
      description:
        'IP addresses and CIDR ranges of the load balancers whose connections begin with the header, and unix: for all connections of a Unix socket. A connection without a valid header is closed.',
      examples: [['10.0.0.0/8', '192.168.1.7']],
    },
    header_timeout: {
      type: 'duration',
      description: 'Time limit for receiving the header. 0 disables the limit.',
      default: '5s',
      examples: ['2s'],
    },
  },
} as const satisfies Schema;
