import type { Call } from './call.ts';
import type { HeaderBag } from './headers.ts';
import { definePort, type Port } from './port.ts';
import type { ClientTls } from './tls.ts';

/** A request as it is about to be sent: the first of a call, one that follows a redirect, or one that is sent once more. */
export interface HttpAttempt {
  readonly method: string;
  /** As in `https://host:port`. */
  readonly origin: string;
  /** Encoded path and query. */
  readonly target: string;
  /** The `Host` that is sent. */
  readonly host: string;
  /** Of this attempt alone: nothing that was signed for another one is in them. A signer may change them. */
  readonly headers: HeaderBag;
  /** Null without a body, and where no signer reads it. */
  readonly body: Uint8Array | null;
  /** Redirects that were followed before. */
  readonly redirects: number;
}

/** Signs what is sent to backends. */
export interface HttpSigner {
  /** `attempt.body` has the body, which is kept in memory for it. Default: a body streams through unseen. */
  readonly readsBody?: true;
  /** Called for every attempt. What it throws, a `BackendError` best, fails the call. */
  sign(attempt: HttpAttempt, call: Call): void | Promise<void>;
}

/** Signers of the HTTP requests of a place: whatever is called there over HTTP goes through all of them, outermost first. */
export const httpSigners: Port<HttpSigner> = definePort('http signers');

/** How a component calls over HTTP, where it is not as its place does. */
export interface HttpOptions {
  /** TLS, in the place of that of the backend or of the service. @param at pointer of it in the component's configuration. */
  readonly tls?: {
    readonly settings: ClientTls;
    readonly at: string;
    /**
     * Public keys: the SHA-256 of their DER form (SPKI) in base64. Some certificate of the chain that the server shows must
     * have one of them. Says nothing where `allow_insecure_connections` is set. Default: any.
     */
    readonly pins?: readonly string[];
  };
  /**
   * As the service calls, not the backend that the component stands in: for those who call somebody else, such as a server
   * that issues tokens. TLS, proxy and redirects are those of the service, and only its signers sign. Default: false.
   */
  readonly ofService?: true;
  /** Default: as the backend says, else true. */
  readonly followsRedirects?: boolean;
  /**
   * One connection to each address for those who give the same name here, one request at a time: where who one is belongs to
   * the connection. One that was lost is opened anew. Does not hold through a proxy. Default: the connections of the place.
   */
  readonly ownConnection?: string;
  /**
   * Addresses that are called whatever a request says, as in `https://host/path`, in the place of the hosts of the backend: each
   * is an upstream, as of `Site.connectsTo`.
   */
  readonly calls?: readonly { readonly address: string; readonly at: string }[];
}
