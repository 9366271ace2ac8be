import type { ConnectionObserver, HttpSigner } from '#contract';
import type { Transport } from './transport.ts';

/** How one backend is called. */
export interface HttpClient {
  readonly transport: Transport;
  readonly followsRedirects: boolean;
  /** A body is sent again where a redirect asks for it. */
  readonly resendsBody: boolean;
  /** The backend is not told who calls. */
  readonly hidesClient: boolean;
  /** A body is read into memory before it is sent. */
  readonly buffersBody: boolean;
  /** Outermost first; null for none. */
  readonly signers: readonly HttpSigner[] | null;
  /** Who sees how requests get their connections; null for nobody. */
  readonly observers: readonly ConnectionObserver[] | null;
  /** Ask for gzip where the request says nothing of encodings, and inflate it. */
  readonly asksGzip: boolean;
  /** Longest wait from the request sent to the headers of the answer, in milliseconds; 0 for no limit. */
  readonly headerTimeoutMs: number;
  /** Requests name the addresses that are called. */
  readonly isPassing: boolean;
}
