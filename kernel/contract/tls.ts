import { cipherNumbers } from '../net/ciphers.ts';
import type { Infer, Schema } from './schema.ts';

const version = (description: string) =>
  ({
    type: 'string',
    enum: ['SSL3.0', 'TLS10', 'TLS11', 'TLS12', 'TLS13'],
    description,
    unused: { because: 'SSL 3.0 is not supported, so the default applies', only: ['SSL3.0'] },
    default: 'TLS13',
  }) as const;

const paths = (description: string, ...example: string[]) =>
  ({ type: 'array', items: { type: 'string', minLength: 1 }, description, default: [], examples: [example] }) as const;

const path = (description: string, example: string) =>
  ({ type: 'string', minLength: 1, description, examples: [example] }) as const;
const flag = (description: string) => ({ type: 'boolean', description, default: false }) as const;

/** Settings for both sides of a connection: versions, cipher suites, curves and trusted CA certificates. */
const protocol = {
  ca_certs: paths(
    'PEM files with CA certificates to trust in addition to the system trust store.',
    '/etc/sluice/authorities.pem',
  ),
  disable_system_ca_pool: flag('Trusts only the CA certificates in ca_certs, not the system trust store.'),
  min_version: version('Minimum TLS version. Set TLS12 for peers that do not support TLS 1.3.'),
  max_version: version('Maximum TLS version.'),
  cipher_suites: {
    type: 'array',
    items: {
      type: 'integer',
      get published() {
        return { enum: cipherNumbers() };
      },
    },
    uniqueItems: true,
    description: 'IANA numbers of the cipher suites offered up to TLS 1.2. TLS 1.3 suites are always offered.',
    default: [4865, 4866, 4867, 49199, 49195, 49200, 49196, 52392, 52393],
  },
  curve_preferences: {
    type: 'array',
    items: { type: 'integer', enum: [23, 24, 25] },
    uniqueItems: true,
    description: 'Elliptic curves in order of preference: 23 is P-256, 24 is P-384, 25 is P-521.',
    default: [23, 24, 25],
  },
} as const;

/** `client_tls`: TLS settings of the gateway as a client. */
export const clientTlsSchema = {
  type: 'object',
  title: 'Client TLS',
  description: 'TLS settings for HTTPS backends. File paths are relative to the working directory.',
  examples: [{ ca_certs: ['/etc/sluice/authorities.pem'], min_version: 'TLS12' }],
  properties: {
    allow_insecure_connections: flag('Accepts any backend certificate without verification.'),
    ...protocol,
    client_certs: {
      type: 'array',
      items: {
        type: 'object',
        required: ['certificate', 'private_key'],
        properties: {
          certificate: path('Path of the PEM certificate, with its chain.', '/etc/sluice/client.pem'),
          private_key: path('Path of the PEM private key.', '/etc/sluice/client-key.pem'),
        },
      },
      description: 'Client certificates presented to backends that request one (mutual TLS).',
      default: [],
    },
  },
} as const satisfies Schema;

/** `tls`: TLS settings of the gateway as a server. */
export const serverTlsSchema = {
  type: 'object',
  title: 'TLS',
  description:
    'TLS settings of the listening port, which then serves HTTPS only. File paths are relative to the working directory.',
  examples: [{ keys: [{ public_key: '/etc/sluice/server.pem', private_key: '/etc/sluice/server-key.pem' }] }],
  properties: {
    disabled: flag('Ignores the whole object and serves plain HTTP.'),
    keys: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          public_key: path('Path of the PEM certificate, with its chain.', '/etc/sluice/server.pem'),
          private_key: path('Path of the PEM private key.', '/etc/sluice/server-key.pem'),
        },
      },
      description:
        'Certificates, selected by the server name (SNI) of the connection. The first one is used for names that no certificate covers.',
      default: [],
    },
    public_key: {
      ...path('Former field for a single certificate, which is appended to keys.', '/etc/sluice/server.pem'),
      deprecated: true,
    },
    private_key: {
      ...path('Former field for a single certificate: the private key of public_key.', '/etc/sluice/server-key.pem'),
      deprecated: true,
    },
    ...protocol,
    enable_mtls: flag('Requires a client certificate for every request (mutual TLS).'),
    prefer_server_cipher_suites: {
      ...flag("Prefers the server's cipher order."),
      unused: { because: "the server's order always applies", unless: [true] },
    },
  },
} as const satisfies Schema;

/** A `client_tls` object with defaults. */
export type ClientTls = Infer<typeof clientTlsSchema>;

/** A `tls` object with defaults. */
export type ServerTlsConfig = Infer<typeof serverTlsSchema>;

/** A certificate and its key as configured, with their pointers relative to `tls`. */
export interface KeyFiles {
  readonly certificate: string | undefined;
  readonly privateKey: string | undefined;
  readonly certificateAt: string;
  readonly privateKeyAt: string;
}

/** All certificates of a `tls` object with their keys, in order; the pair in the old single fields is last. */
export function keyFilesOf(config: ServerTlsConfig): KeyFiles[] {
  const list = config.keys.map((pair, index) => ({
    certificate: pair.public_key,
    privateKey: pair.private_key,
    certificateAt: `/keys/${index}/public_key`,
    privateKeyAt: `/keys/${index}/private_key`,
  }));
  if (config.public_key === undefined && config.private_key === undefined) return list;
  const old = { certificateAt: '/public_key', privateKeyAt: '/private_key' };
  return [...list, { certificate: config.public_key, privateKey: config.private_key, ...old }];
}
