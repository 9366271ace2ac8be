import { isIP } from 'node:net';

/** Address of a broker, and the credentials to connect with. */
export interface AmqpAddress {
  readonly isEncrypted: boolean;
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly password: string;
  readonly vhost: string;
  /** Heartbeat interval: longest silence of the broker before it is probed, in seconds; 0 disables heartbeats. */
  readonly heartbeatS: number;
  /** Longest time until a connection is usable, in milliseconds. */
  readonly connectMs: number;
  /** Name for messages: without user and password. */
  readonly name: string;
}

/** Default heartbeat interval, in seconds. */
const HEARTBEAT_S = 10;
const CONNECT_MS = 10_000;

/** Query parameters allowed in an address. */
const PARAMETERS = ['heartbeat', 'connection_timeout'] as const;

const EXAMPLE = 'amqp://user:password@host:5672/vhost';

/**
 * Parses `amqp://user:password@host:5672/vhost?heartbeat=10&connection_timeout=10000`, or `amqps://` for TLS. The user
 * defaults to `guest`, the virtual host to `/`; parts may be percent-encoded.
 * @throws Error that says what is wrong, without the address, which contains a password.
 */
export function readAmqpAddress(text: string): AmqpAddress {
  const url = URL.parse(text);
  if (!url || !/^amqps?:$/.test(url.protocol) || url.hostname === '') {
    throw new Error(`not a valid broker address: use ${EXAMPLE}`);
  }
  const isEncrypted = url.protocol === 'amqps:';
  if (url.hash !== '') throw new Error(`"#" is not allowed in a broker address: write %23 in passwords`);
  if (url.pathname.indexOf('/', 1) > 0) throw new Error('"/" in a virtual host must be written as %2F');
  for (const name of url.searchParams.keys()) {
    if ((PARAMETERS as readonly string[]).includes(name)) continue;
    throw new Error(`unknown parameter "${name}": supported are ${PARAMETERS.join(' and ')}`);
  }
  const isGuest = url.username === '' && url.password === '';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port) || (isEncrypted ? 5671 : 5672);
  const vhost = decoded(url.pathname.slice(1), 'virtual host') || '/';
  return {
    isEncrypted,
    host,
    port,
    username: isGuest ? 'guest' : decoded(url.username, 'user'),
    password: isGuest ? 'guest' : decoded(url.password, 'password'),
    vhost,
    heartbeatS: wholeNumber(url, 'heartbeat', HEARTBEAT_S),
    connectMs: wholeNumber(url, 'connection_timeout', CONNECT_MS) || CONNECT_MS,
    name: `${isIP(host) === 6 ? `[${host}]` : host}:${port}${vhost === '/' ? '' : `/${vhost}`}`,
  };
}

function decoded(text: string, what: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error(`the ${what} is not valid percent-encoding: write %25 for "%"`);
  }
}

function wholeNumber({ searchParams }: URL, name: string, otherwise: number): number {
  const text = searchParams.get(name);
  if (text === null) return otherwise;
  if (!/^\d{1,6}$/.test(text)) throw new Error(`${name} must be a whole number`);
  return Number(text);
}
