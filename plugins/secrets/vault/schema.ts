// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a configuration
import { clientTlsSchema, type Infer, type Schema } from '#contract';
import { storeFields } from '../lib/fields.ts';

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount/token';

export const schema = {
  type: 'object',
  title: 'Vault',
  required: ['address', 'auth'],
  examples: [
    {
      address: 'https://vault.example.com:8200',
      namespace: 'team-a',
      auth: { method: 'kubernetes', role: 'gateway' },
    },
    {
      address: 'https://vault.example.com:8200',
      auth: { method: 'approle', role_id: '${ROLE_ID}', secret_id_file: '/run/secrets/vault-secret-id' },
      refresh_interval: '5m',
      client_tls: { ca_certs: ['vault-ca.pem'] },
    },
  ],
  properties: {
    address: {
      type: 'string',
      minLength: 1,
      description: 'URL of the server, http or https.',
      examples: ['https://vault.example.com:8200'],
    },
    namespace: {
      type: 'string',
      minLength: 1,
      description:
        'Namespace of the secrets and of the login (Vault Enterprise, OpenBao). Default: the root namespace.',
      examples: ['team-a'],
    },
    auth: {
      type: 'object',
      description: 'Login of the gateway.',
      required: ['method'],
      examples: [{ method: 'kubernetes', role: 'gateway' }],
      properties: {
        method: {
          type: 'string',
          enum: ['token', 'approle', 'kubernetes'],
          description: 'Login method.',
          examples: ['approle'],
        },
        mount: {
          type: 'string',
          minLength: 1,
          description: 'Mount path of the login method. Default: the name of the method.',
          examples: ['kubernetes-eu'],
        },
        token: {
          type: 'string',
          minLength: 1,
          description: 'Token, for the method token.',
          secret: true,
          examples: ['${VAULT_TOKEN}'],
        },
        token_file: {
          type: 'string',
          minLength: 1,
          description: `File with the token: any token for the method token, the token of the service account for the method kubernetes (default: ${SERVICE_ACCOUNT}). Read at every login.`,
          examples: ['/run/secrets/vault-token'],
        },
        role_id: {
          type: 'string',
          minLength: 1,
          description: 'Role ID, for the method approle.',
          examples: ['${ROLE_ID}'],
        },
        secret_id: {
          type: 'string',
          minLength: 1,
          description: 'Secret ID, for the method approle.',
          secret: true,
          examples: ['${SECRET_ID}'],
        },
        secret_id_file: {
          type: 'string',
          minLength: 1,
          description: 'File with the secret ID, for the method approle. Read at every login.',
          examples: ['/run/secrets/vault-secret-id'],
        },
        role: {
          type: 'string',
          minLength: 1,
          description: 'Role, for the method kubernetes.',
          examples: ['gateway'],
        },
      },
    },
    kv_version: {
      type: 'integer',
      minimum: 1,
      maximum: 2,
      description:
        'Version of the key/value engines, if the token may not read it from the server. Default: as the server reports it for each mount.',
    },
    refresh_interval: {
      type: 'duration',
      description:
        'Interval at which secrets without a lease are fetched again. Shortened by a random part of up to 10 %. 0s disables repeated fetches.',
      default: '1m',
    },
    ...storeFields,
    client_tls: clientTlsSchema,
  },
} as const satisfies Schema;

export type VaultConfig = Infer<typeof schema>;

/** Login request of the gateway: its path and its body. The path is null for a token that needs no login. */
export interface Login {
  readonly path: string | null;
  /** Fields of the body, or the token itself under `token`. */
  readonly fields: Readonly<Record<string, string>>;
  /** Fields that are read from files. */
  readonly files: Readonly<Record<string, string>>;
}

/** Fields that a login method requires, as lists of alternatives: one field of each list must be set. */
const required: Readonly<Record<VaultConfig['auth']['method'], readonly (readonly (keyof VaultConfig['auth'])[])[]>> = {
  token: [['token', 'token_file']],
  approle: [['role_id'], ['secret_id', 'secret_id_file']],
  kubernetes: [['role']],
};

/** Returns the alternatives of a required field if all of them are missing; undefined for complete settings. */
export function missingFields(auth: VaultConfig['auth']): readonly string[] | undefined {
  return required[auth.method].find((names) => names.every((name) => auth[name] === undefined));
}

export function loginOf(auth: VaultConfig['auth']): Login {
  const path = `auth/${(auth.mount ?? auth.method).replace(/^\/+|\/+$/g, '')}/login`;
  const { token, token_file, role_id = '', secret_id, secret_id_file, role = '' } = auth;
  const logins: Readonly<Record<typeof auth.method, Login>> = {
    token: { path: null, ...given('token', token, token_file) },
    approle: { path, ...given('secret_id', secret_id, secret_id_file, { role_id }) },
    kubernetes: { path, ...given('jwt', undefined, token_file ?? SERVICE_ACCOUNT, { role }) },
  };
  return logins[auth.method];
}

function given(
  name: string,
  value: string | undefined,
  file: string | undefined,
  others: Readonly<Record<string, string>> = {},
): Pick<Login, 'fields' | 'files'> {
  if (value !== undefined) return { fields: { ...others, [name]: value }, files: {} };
  return { fields: others, files: file === undefined ? {} : { [name]: file } };
}
