import type { ConnectionObserver, HttpSigner } from '#contract';
import { invalidRequest } from './errors.ts';
import type { OriginPool } from './origin-pool.ts';
import type { RedirectSource } from './redirect.ts';
import { isSocketAddress } from './socket-address.ts';
import type { Transport } from './transport.ts';

/** HTTP client of one backend. */
export interface HttpClient {
  readonly transport: Transport;
  readonly followsRedirects: boolean;
  /** Whether a body is sent again if a redirect requires it. */
  readonly resendsBody: boolean;
  /** Whether connections announce the client of their requests, with the PROXY protocol. */
  readonly announcesClient: boolean;
  /** Whether headers that identify the client are removed. */
  readonly hidesClient: boolean;
  /** Whether a body is buffered before it is sent. */
  readonly buffersBody: boolean;
  /** Signers, outermost first; null without any. */
  readonly signers: readonly HttpSigner[] | null;
  /** Observers of how requests get their connections; null without any. */
  readonly observers: readonly ConnectionObserver[] | null;
  /** Whether to request and inflate gzip if the request has no `Accept-Encoding`. */
  readonly asksGzip: boolean;
  /** Timeout from the end of the request to the response headers, in milliseconds; 0 for no limit. */
  readonly headerTimeoutMs: number;
  /** The Unix sockets that may be called: those of the configuration, as requests cannot choose files. */
  readonly sockets: ReadonlySet<string>;
  /** Whether the address to call is determined by each request. */
  readonly isPassing: boolean;
}

/** The connections for one request. @param ip address of the client. @throws Error if the address cannot be called. */
export function enterPool(client: HttpClient, request: RedirectSource, ip: string): OriginPool {
  const { origin, firstOrigin, redirects } = request;
  if (isSocketAddress(origin) && !client.sockets.has(origin)) throw invalidRequest('the Unix socket is not configured');
  // After a redirect, no client is announced, because the other server may not expect the PROXY protocol.
  const announced = client.announcesClient && origin === firstOrigin ? ip : undefined;
  return client.transport.enter(origin, client.isPassing || redirects > 0, announced);
}
