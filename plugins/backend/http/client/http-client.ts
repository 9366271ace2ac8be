import type { ConnectionObserver, HttpSigner } from '#contract';
import type { Transport } from './transport.ts';

/** HTTP client of one backend. */
export interface HttpClient {
  readonly transport: Transport;
  readonly followsRedirects: boolean;
  /** Whether a body is sent again if a redirect requires it. */
  readonly resendsBody: boolean;
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
  /** Whether addresses are determined by requests. */
  readonly isPassing: boolean;
}
