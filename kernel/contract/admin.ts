import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { ADDRESS_RANGE_PATTERN, ADMIN_ADDRESS_PATTERN } from '../net/address-pattern.ts';
import type { Infer, Schema } from './schema.ts';

/** Permissions of an admin API token. */
export const adminScopes = ['read', 'check', 'write', 'ops', 'secrets'] as const;

export type AdminScope = (typeof adminScopes)[number];

/** Permissions of each scope, phrased to follow "can". No scope includes another, except that write includes check. */
export const scopeMeanings: Readonly<Record<AdminScope, string>> = {
  read: 'show the status, the active configuration with masked secrets, the history, endpoints, plugins, metrics and events',
  check: 'check and compare configurations with the plugins that are already loaded, without opening other files',
  write: 'apply and roll back configurations; includes check, which may then load other plugins and open files',
  ops: 'drain, resume and stop the gateway, override the log level, empty caches and lift suspensions of plugins',
  secrets: 'show secrets in plaintext that read shows masked, and recorded traffic',
};

const meanings = adminScopes.map((scope) => `${scope}: ${scopeMeanings[scope]}`).join('. ');

/** Settings of the admin port, in the service's `extra_config` as `admin/api`. */
export const adminSchema = {
  type: 'object',
  title: 'Admin API',
  examples: [
    { listen: '127.0.0.1:9180', disable_write: true },
    { listen: 'unix:/run/sluice/admin.sock', allowed_ips: ['10.0.0.0/8'] },
  ],
  properties: {
    listen: {
      type: 'string',
      published: { pattern: ADMIN_ADDRESS_PATTERN },
      description: 'Listen address of the admin API: host:port, unix:/path or off.',
      default: '127.0.0.1:9180',
      examples: ['unix:/run/sluice/admin.sock'],
    },
    tokens: {
      type: 'array',
      description:
        'Access tokens. If empty, the gateway creates a random token with every scope, stored in the state directory and reused by later starts. `GET /metrics` needs no token from loopback addresses and Unix sockets.',
      items: {
        type: 'object',
        properties: {
          id: { type: 'string', minLength: 1, description: 'Token name in the history and the audit log.' },
          sha256: {
            type: 'string',
            pattern: '^[0-9a-f]{64}$',
            description: 'SHA-256 of the token in lowercase hexadecimal. The token itself is never stored.',
          },
          scopes: {
            type: 'array',
            minItems: 1,
            items: { type: 'string', enum: adminScopes },
            description: `Operations that the token can use. ${meanings}.`,
          },
        },
        required: ['id', 'sha256', 'scopes'],
      },
      default: [],
    },
    tls: {
      type: 'object',
      description: 'TLS of the admin port. Required unless it listens on a loopback address or a Unix socket.',
      properties: {
        certificate: { type: 'string', minLength: 1, description: 'PEM file with the certificate and its chain.' },
        private_key: { type: 'string', minLength: 1, description: 'PEM file with the private key.' },
        client_ca: {
          type: 'string',
          minLength: 1,
          description:
            'PEM file with the CA certificates that verify client certificates. If set, clients must present a certificate.',
        },
      },
      required: ['certificate', 'private_key'],
    },
    allowed_hosts: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description: 'Accepted values of the Host header, in addition to the host names of the listen address.',
      default: [],
      examples: [['gateway-admin.internal:9180']],
    },
    allowed_origins: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description: 'Origins of web pages that can call the admin API.',
      default: [],
      examples: [['https://console.example.com']],
    },
    allowed_ips: {
      type: 'array',
      items: { type: 'string', published: { pattern: ADDRESS_RANGE_PATTERN } },
      description: 'IP addresses and CIDR ranges that can connect. If empty, all can.',
      default: [],
      examples: [['10.0.0.0/8']],
    },
    max_body: {
      type: 'integer',
      minimum: 1,
      description: 'Maximum request body size in bytes.',
      default: 10_485_760,
    },
    revisions: {
      type: 'integer',
      minimum: 1,
      description: 'Number of configurations kept in the history, not counting pinned ones.',
      default: 20,
    },
    disable_write: {
      type: 'boolean',
      description:
        'Rejects every configuration change except a reload of the file. For deployments that replace the file themselves.',
      default: false,
    },
    contracts: {
      type: 'string',
      minLength: 1,
      description:
        'Folder of contracts that `sluice contracts infer` has written. Changes with `contracts=strict` are rejected if they break one of them. Default: none.',
      examples: ['/etc/sluice/contracts'],
    },
    dashboard: {
      type: 'boolean',
      description: 'Serves the dashboard, a web page for watching and changing the gateway, at `/` of the admin port.',
      default: true,
    },
    require_if_match: {
      type: 'boolean',
      description: 'Rejects changes without an If-Match header that names the revision they are based on.',
      default: false,
    },
  },
} as const satisfies Schema;

/** TLS files of the admin port. */
export interface AdminPem {
  readonly cert: string;
  readonly key: string;
  /** CA certificates for client certificates; undefined if clients need none. */
  readonly ca?: string | undefined;
}

/** Settings of the admin port; `pem` is null without TLS. */
export type AdminSettings = Infer<typeof adminSchema> & { readonly pem: AdminPem | null };

/** Listen address of an admin port. */
export type AdminAddress =
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number; readonly isLoopback: boolean }
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'off' };

/**
 * Parses `host:port`, `[::1]:port`, `:port` (all addresses), `unix:/path` or `off`, as described by
 * `ADMIN_ADDRESS_PATTERN`.
 * @returns null for any other text.
 */
export function parseAdminAddress(text: string): AdminAddress | null {
  if (text === 'off') return { kind: 'off' };
  if (text.startsWith('unix:/')) return { kind: 'unix', path: text.slice('unix:'.length) };
  const [, bracketed, name = '', digits] = /^(?:\[([^\]]*)\]|([\w.-]*)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65_535) return null;
  if (bracketed !== undefined && (bracketed.includes('%') || !isIPv6(bracketed))) return null;
  const host = bracketed ?? name;
  const isLoopback = /^(?:localhost|127(?:\.\d+){3}|::1)$/i.test(host);
  return { kind: 'tcp', host, port, isLoopback };
}

/** Path of the token that a gateway generated, in its state directory. @param listen address of its admin port. */
export function adminTokenFile(directory: string, listen: string): string {
  return join(directory, `admin-${listen.replaceAll(/[^\w.-]/g, '-')}.token`);
}
