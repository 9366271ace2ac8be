import type { ConnectionOptions, SecureContext } from 'node:tls';

/** How TLS is spoken to an upstream. */
export interface UpstreamTls
  extends Pick<ConnectionOptions, 'rejectUnauthorized' | 'checkServerIdentity' | 'ALPNProtocols'> {
  readonly secureContext: SecureContext;
}

/** A server that a component connects to while it serves. */
export interface Upstream {
  /** As in `https://host:8443/path` or `host:5672`; scheme, user, password and what follows the port are passed over. */
  readonly address: string;
  /** Where the address names none. Default: that of its scheme, which is 80 or 443. */
  readonly port?: number | undefined;
  /** How TLS is spoken as soon as it is connected to, or greeted by it; called when that is tried. Default: it is not. */
  readonly tls?: (() => UpstreamTls) | null | undefined;
  /**
   * Of a server that speaks first: whether TLS begins after its first line, which comes without its end.
   * @throws Error with what is wrong with that line.
   */
  readonly tlsAfter?: ((greeting: string) => boolean) | undefined;
  /** Default: TCP. Over UDP nobody knows whether somebody listens: its name is looked up alone. */
  readonly transport?: 'udp';
  /** What it is where that is not plain from the place, as in `proxy`. */
  readonly role?: string;
}
