import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type DeniedAddresses, openOwned, timerMs } from '#contract';
import { Connection } from '../http2/connection.ts';
import type { TlsClient } from '../tls/client-tls.ts';

/** Connection settings. Times in milliseconds. */
export interface DialSettings {
  /** Timeout for name lookup, TCP and TLS together; 0 for the default. */
  readonly timeoutMs: number;
  /** Interval between TCP keep-alive probes; a negative value disables them. */
  readonly keepAliveMs: number;
  /** Delay before the next address of a name is tried. */
  readonly fallbackDelayMs: number;
  /** TLS settings; null for plain HTTP/2. */
  readonly tls: (() => TlsClient) | null;
  /** Addresses that must not be reached; null allows all. */
  readonly denied: DeniedAddresses | null;
  /** Owner to which faults of the connection are attributed. Default: `backend connection`. */
  readonly place?: string;
}

/** Address of a server. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

const STREAM_WINDOW_BYTES = 1024 * 1024;

/** Opens a connection that accepts calls immediately, before it is established. @param closed see `Connection`. */
export function connectTo(
  address: Address,
  settings: DialSettings,
  closed: (connection: Connection) => void,
): Connection {
  const { tls, timeoutMs, denied, place = 'backend connection' } = settings;
  const name = address.host.includes(':') ? `[${address.host}]` : address.host;
  const open = () =>
    new Connection(
      {
        socket: dial(address, settings),
        origin: `${tls ? 'https' : 'http'}://${name}:${address.port}`,
        timeoutMs,
        streamWindowBytes: STREAM_WINDOW_BYTES,
        refuses: ({ remoteAddress = '', remotePort = 0 }) =>
          denied?.has(remoteAddress, remotePort) ? new Error('the gateway does not call its own admin port') : null,
      },
      closed,
    );
  return openOwned(place, name, open);
}

function dial({ host, port }: Address, { keepAliveMs, fallbackDelayMs, tls }: DialSettings): Socket {
  const options = {
    host,
    port,
    noDelay: true,
    keepAlive: keepAliveMs >= 0,
    keepAliveInitialDelay: timerMs(Math.max(keepAliveMs, 0)),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: timerMs(Math.max(fallbackDelayMs, 10)),
  };
  if (!tls) return connectPlain(options);
  // The certificate must be valid for the name in the address. No server name is sent for an IP address.
  const servername = /^[\d.]+$|:/.test(host) ? '' : host;
  return connectTls({ ...options, ...tls(), servername, ALPNProtocols: ['h2'] });
}
