import type { Infer, Schema } from '#contract';

const version = (description: string) =>
  ({
    type: 'string',
    enum: ['SSL3.0', 'TLS10', 'TLS11', 'TLS12', 'TLS13'],
    description,
    default: 'TLS13',
  }) as const;

const paths = (description: string) =>
  ({ type: 'array', items: { type: 'string', minLength: 1 }, description, default: [] }) as const;

/** `client_tls`: how the gateway, as a client, speaks TLS. */
export const clientTlsSchema = {
  type: 'object',
  title: 'Client TLS',
  description: 'How HTTPS backends are spoken to.',
  properties: {
    allow_insecure_connections: {
      type: 'boolean',
      description: 'Accept any certificate of a backend, unchecked.',
      default: false,
    },
    ca_certs: paths('PEM files with authorities trusted besides those of the system.'),
    disable_system_ca_pool: {
      type: 'boolean',
      description: 'Trust only the authorities of ca_certs.',
      default: false,
    },
    min_version: version('Oldest version of TLS spoken.'),
    max_version: version('Newest version of TLS spoken.'),
    cipher_suites: {
      type: 'array',
      items: { type: 'integer' },
      uniqueItems: true,
      description: 'IANA numbers of the cipher suites offered up to TLS 1.2; those of TLS 1.3 are always offered.',
      default: [4865, 4866, 4867, 49199, 49195, 49200, 49196, 52392, 52393],
    },
    curve_preferences: {
      type: 'array',
      items: { type: 'integer', enum: [23, 24, 25] },
      uniqueItems: true,
      description: 'Curves offered, best first: 23 is P-256, 24 is P-384, 25 is P-521.',
      default: [23, 24, 25],
    },
    client_certs: {
      type: 'array',
      items: {
        type: 'object',
        required: ['certificate', 'private_key'],
        properties: {
          certificate: { type: 'string', minLength: 1, description: 'Path of the PEM certificate, with its chain.' },
          private_key: { type: 'string', minLength: 1, description: 'Path of the PEM private key.' },
        },
      },
      description: 'Certificates shown to backends that ask for one.',
      default: [],
    },
  },
} as const satisfies Schema;

/** A `client_tls` object, defaults filled in. */
export type ClientTls = Infer<typeof clientTlsSchema>;
