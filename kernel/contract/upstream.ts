import type { ConnectionOptions, SecureContext } from 'node:tls';

/** TLS settings for an upstream. */
export interface UpstreamTls
  extends Pick<ConnectionOptions, 'rejectUnauthorized' | 'checkServerIdentity' | 'ALPNProtocols'> {
  readonly secureContext: SecureContext;
}

/** A server that a component connects to while it serves. */
export interface Upstream {
  /** For example `https://host:8443/path`, `host:5672` or `unix:///path`. Scheme, user, password and everything after the port are ignored. */
  readonly address: string;
  /** Port used if the address contains none. Default: the scheme's default port, 80 or 443. */
  readonly port?: number | undefined;
  /** TLS settings used directly after connecting, or after the server's greeting; called on demand. Default: no TLS. */
  readonly tls?: (() => UpstreamTls) | null | undefined;
  /**
   * For servers that speak first: decides from their first line, without its line break, whether TLS follows.
   * @throws Error with the reason for an invalid line.
   */
  readonly tlsAfter?: ((greeting: string) => boolean) | undefined;
  /**
   * Transport protocol. Default: TCP. With UDP, only the name is resolved, because UDP does not reveal whether a server
   * listens.
   */
  readonly transport?: 'udp';
  /** Role of the server if it is not obvious from the component that uses it, for example `proxy`. */
  readonly role?: string;
}
