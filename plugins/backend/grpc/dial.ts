import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type DeniedAddresses, openOwned, timerMs } from '#contract';
import type { TlsClient } from '../../services/client-tls.ts';
import { Connection } from '../../services/http2/connection.ts';

/** How connections are made. Times in milliseconds. */
export interface DialSettings {
  /** Longest time for name look-up, TCP and TLS; 0 for the default. */
  readonly timeoutMs: number;
  /** Pause between TCP keep-alive probes; negative for none. */
  readonly keepAliveMs: number;
  /** Wait before the next address of a name is tried. */
  readonly fallbackDelayMs: number;
  /** Null for plain HTTP/2. */
  readonly tls: (() => TlsClient) | null;
  readonly denied: DeniedAddresses;
}

/** An address that is called. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

const STREAM_WINDOW_BYTES = 1024 * 1024;

/** A connection that calls can begin on at once, before it is there. @param closed as of `Connection`. */
export function connectTo(
  address: Address,
  settings: DialSettings,
  closed: (connection: Connection) => void,
): Connection {
  const { tls, timeoutMs, denied } = settings;
  const name = address.host.includes(':') ? `[${address.host}]` : address.host;
  return new Connection(
    {
      socket: openOwned('backend connection', name, () => dial(address, settings)),
      origin: `${tls ? 'https' : 'http'}://${name}:${address.port}`,
      timeoutMs,
      streamWindowBytes: STREAM_WINDOW_BYTES,
      refuses: ({ remoteAddress = '', remotePort = 0 }) =>
        denied.has(remoteAddress, remotePort) ? new Error('the gateway does not call its own admin port') : null,
    },
    closed,
  );
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
  // A certificate is for the name in the address; an IP address is sent to nobody.
  const servername = /^[\d.]+$|:/.test(host) ? '' : host;
  return connectTls({ ...options, ...tls(), servername, ALPNProtocols: ['h2'] });
}
