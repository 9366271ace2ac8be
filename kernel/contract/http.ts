import type { Call } from './call.ts';
import type { HeaderBag } from './headers.ts';
import { definePort, type Port } from './port.ts';
import type { ClientTls } from './tls.ts';

/** A request about to be sent: the first one of a call, a followed redirect, or a retry. */
export interface HttpAttempt {
  readonly method: string;
  /** Address of the server, for example `https://host:port`. */
  readonly origin: string;
  /** Encoded path and query. */
  readonly target: string;
  /** The `Host` header to send. */
  readonly host: string;
  /** Headers of this attempt only, without the signatures of earlier ones. Signers can modify them. */
  readonly headers: HeaderBag;
  /** Body of the request; null without a body, and if no signer reads it. */
  readonly body: Uint8Array | null;
  /** Number of redirects followed before. */
  readonly redirects: number;
}

/** Signs backend requests. */
export interface HttpSigner {
  /**
   * Whether the signer reads the body: `attempt.body` then contains it, buffered in memory. Default: bodies are
   * streamed and not visible to the signer.
   */
  readonly readsBody?: true;
  /** Called for every attempt. Exceptions, preferably a `BackendError`, fail the call. */
  sign(attempt: HttpAttempt, call: Call): void | Promise<void>;
}

/** Signers of the HTTP requests that the components of one endpoint, backend or the service send, outermost first. */
export const httpSigners: Port<HttpSigner> = definePort('http signers');

/** Settings of a component's HTTP calls that differ from those of its endpoint, backend or the service. */
export interface HttpOptions {
  /**
   * TLS settings that replace those of the backend or service. @param at pointer to them in the component's
   * configuration.
   */
  readonly tls?: {
    readonly settings: ClientTls;
    readonly at: string;
    /**
     * Pinned public keys: SHA-256 of the DER-encoded SPKI in base64. One certificate of the server's chain must match.
     * Ignored if `allow_insecure_connections` is set. Default: no pinning.
     */
    readonly pins?: readonly string[];
  };
  /**
   * Uses TLS, proxy, redirects and signers of the service instead of the backend: for calls to other servers, such as a
   * token endpoint. Default: false.
   */
  readonly ofService?: true;
  /** Whether redirects are followed. Default: the backend's setting, or true. */
  readonly followsRedirects?: boolean;
  /**
   * Uses one dedicated connection per address, shared by callers with the same name, for one request at a time. For
   * authentication that is bound to a connection. A lost connection is reopened. Not supported through a proxy.
   * Default: the connections that other calls of the same endpoint, backend or service share.
   */
  readonly ownConnection?: string;
  /**
   * URLs to call instead of the backend's hosts, for example `https://host/path`. Each is an upstream as in
   * `Site.connectsTo`.
   */
  readonly calls?: readonly { readonly address: string; readonly at: string }[];
}
