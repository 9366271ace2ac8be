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
  /** How TLS is spoken as soon as it is connected to; called when that is tried. Default: it is not. */
  readonly tls?: (() => UpstreamTls) | null | undefined;
  /** Default: TCP. Over UDP nobody knows whether somebody listens: its name is looked up alone. */
  readonly transport?: 'udp';
  /** What it is where that is not plain from the place, as in `proxy`. */
  readonly role?: string;
}
