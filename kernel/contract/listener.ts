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
        'Load balancers whose connections begin with the header: IP addresses, CIDR ranges, and `unix:` for all connections over Unix sockets. A connection without a valid header is closed.',
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

/** `X-Forwarded-Client-Cert` for backends. */
export const forwardClientCertSchema = {
  type: 'object',
  description:
    "X-Forwarded-Client-Cert header that describes the client's certificate to backends, in the format of Envoy. By default, backends never get the header, not even one that a client sends.",
  examples: [{ mode: 'sanitize_set', details: ['subject', 'uri'] }],
  properties: {
    mode: {
      type: 'string',
      enum: ['sanitize', 'forward_only', 'append_forward', 'sanitize_set', 'always_forward_only'],
      description:
        'sanitize: backends get no header. sanitize_set: they get a header that describes the verified certificate (tls.enable_mtls) and replaces the one of the client. forward_only: the header of a client with a verified certificate is forwarded. append_forward: an entry that describes the verified certificate is appended to it. always_forward_only: the header of any client is forwarded, so every client can forge it; only behind a proxy that sets it.',
      default: 'sanitize',
    },
    details: {
      type: 'array',
      items: { type: 'string', enum: ['subject', 'uri', 'dns', 'cert', 'chain'] },
      uniqueItems: true,
      description:
        'Certificate details in the header, in addition to the SHA-256 hash of the certificate. subject: distinguished name (RFC 2253). uri and dns: subject alternative names. cert and chain: the certificate and its chain as PEM with percent-encoding, about 1 KB for each certificate.',
      default: ['subject', 'uri', 'dns'],
    },
  },
} as const satisfies Schema;
