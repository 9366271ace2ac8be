import { isIPv4 } from 'node:net';
import type { AuditedComponent, AuditRule } from '#contract';
import { lacking, setting, using } from './find.ts';
import { weakTokens } from './tokens.ts';

const tokenComponents = ['auth/validator', 'auth/signer'];
const everywhere: ReadonlySet<string> = new Set(['0.0.0.0/0', '::/0']);

/** Audit rules of chapter 8, which KrakenD does not have. */
export const ownRules: readonly AuditRule[] = [
  {
    id: '8.1.1',
    severity: 'HIGH',
    message: 'Declare tokens for the admin port, or let it listen on the loopback address.',
    find: using(['admin/api'], ['service'], ({ settings: { listen, tokens } }) => {
      return typeof listen === 'string' && !isLoopback(listen) && !(Array.isArray(tokens) && tokens.length > 0);
    }),
  },
  {
    id: '8.1.2',
    severity: 'HIGH',
    message: 'Sign tokens with an algorithm other than none, and with symmetric keys of 256 bits or more.',
    find: weakTokens,
  },
  {
    id: '8.1.3',
    severity: 'HIGH',
    message: 'Remove disable_jwk_security and fetch keys from a server whose certificate can be verified.',
    find: (summary) =>
      using(
        tokenComponents,
        undefined,
        ({ settings }) => settings['disable_jwk_security'] === true,
      )(summary).map((pointer) => `${pointer}/disable_jwk_security`),
  },
  {
    id: '8.1.4',
    severity: 'MEDIUM',
    message: 'Fetch keys over https: anyone who can modify the response can sign tokens.',
    find: (summary) =>
      using(tokenComponents, undefined, ({ settings: { jwk_url: url } }) => {
        return typeof url === 'string' && /^http:/i.test(url);
      })(summary).map((pointer) => `${pointer}/jwk_url`),
  },
  {
    id: '8.1.5',
    severity: 'HIGH',
    message: 'Keep secrets out of the configuration and inject them at deployment.',
    find: ({ secrets }) => secrets(),
  },
  {
    id: '8.2.1',
    severity: 'MEDIUM',
    message: 'List your own proxies in trusted_proxies: without the list, every client can claim any IP address.',
    find: ({ config: { router } }) =>
      router.trusted_proxies.flatMap((range, at) =>
        everywhere.has(range) ? [`/extra_config/router/trusted_proxies/${at}`] : [],
      ),
  },
  {
    id: '8.2.2',
    severity: 'LOW',
    message: 'Remove return_error_msg in production: error messages disclose details of the backends.',
    find: setting('/extra_config/router/return_error_msg', ({ config }) => config.router.return_error_msg),
  },
  {
    id: '8.2.3',
    severity: 'MEDIUM',
    message: 'Set read_header_timeout: without a limit, clients can hold connections open by sending headers slowly.',
    find: setting(
      '/read_header_timeout',
      ({ config }) => config.read_header_timeout === 0 && config.read_timeout === 0,
    ),
  },
  {
    id: '8.2.4',
    severity: 'LOW',
    message: 'Set idle_timeout: without a limit, unused connections stay open.',
    find: setting('/idle_timeout', ({ config }) => config.idle_timeout === 0 && config.read_timeout === 0),
  },
  {
    id: '8.2.5',
    severity: 'LOW',
    message: 'Set router.max_payload above 0: without a limit, clients can send request bodies of any size.',
    find: setting('/extra_config/router/max_payload', ({ config }) => config.router.max_payload === 0),
  },
  {
    id: '8.2.6',
    severity: 'LOW',
    message:
      'List your host names in allowed_hosts of security/http: without the list, backends receive any Host value of a client as X-Forwarded-Host.',
    isNote: true,
    recommends: ['security/http'],
    yieldsTo: ['2.1.7'],
    find: lacking('/extra_config', (summary) => using(['security/http'], ['service'], namesHosts)(summary).length > 0),
  },
  {
    id: '8.2.7',
    severity: 'LOW',
    message:
      'Set listen_ip if the port should not be reachable from every network of the machine: it is open on all addresses.',
    isNote: true,
    find: lacking('/listen_ip', ({ config }) => config.listen_ip !== ''),
  },
  {
    id: '8.2.8',
    severity: 'LOW',
    message: 'Set send_timeout above 0: without a limit, clients that stop reading hold responses in memory.',
    find: setting('/send_timeout', ({ config }) => config.send_timeout === 0),
  },
  {
    id: '8.2.9',
    severity: 'LOW',
    message: 'Set max_connections above 0: without a limit, clients can use all memory and file descriptors.',
    find: setting('/max_connections', ({ config }) => config.max_connections === 0),
  },
  {
    id: '8.2.10',
    severity: 'LOW',
    message:
      'Set max_requests_per_connection above 0: without a limit, clients keep their connection and never move to other instances.',
    find: setting('/max_requests_per_connection', ({ config }) => config.max_requests_per_connection === 0),
  },
  {
    id: '8.2.11',
    severity: 'HIGH',
    message:
      'Set router.path_parameters to "refuse": the endpoint also matches protected paths that contain a matrix parameter, as in /private;a=b.',
    find: ({ openNeighbors }) => openNeighbors(),
  },
  {
    id: '8.2.12',
    severity: 'LOW',
    message:
      'Let the admin port listen on a Unix socket if other users of the machine must not read GET /metrics, which needs no token from loopback addresses.',
    isNote: true,
    find: using(['admin/api'], ['service'], ({ settings: { listen = '127.0.0.1:9180', tokens } }) => {
      const isTcp = typeof listen === 'string' && listen !== 'off' && !listen.startsWith('unix:');
      return isTcp && isLoopback(listen) && Array.isArray(tokens) && tokens.length > 0;
    }),
  },
  {
    id: '8.3.1',
    severity: 'MEDIUM',
    message: 'Restrict write access to the plugin folder to its owner: its files are executed.',
    find: setting('/plugin/folder', ({ root: { plugin }, files }) => {
      const folder = plugin && typeof plugin === 'object' && 'folder' in plugin ? plugin.folder : undefined;
      return typeof folder === 'string' && files.isOpen(folder);
    }),
  },
];

function namesHosts({ settings: { allowed_hosts: hosts } }: AuditedComponent): boolean {
  return Array.isArray(hosts) && hosts.length > 0;
}

/** Returns whether a listen address (`host:port`, `unix:/path` or `off`) is unreachable from other hosts. */
function isLoopback(listen: string): boolean {
  if (listen === 'off' || listen.startsWith('unix:')) return true;
  const host = listen.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1');
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}
