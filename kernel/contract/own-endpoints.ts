import type { ClientRequest } from './client-request.ts';
import type { EndpointConfig } from './config.ts';
import type { Step, Wrap } from './step.ts';

/** A path that a plugin serves itself, before endpoints are matched. */
export interface OwnRoute {
  /** HTTP method. Default: every method. */
  readonly method?: string;
  /** Path; a trailing `/*` matches everything below it. */
  readonly path: string;
  /** Description for the list of served paths, in one sentence. */
  readonly description: string;
  readonly handle: Step<ClientRequest>;
}

/**
 * Endpoints for HTTP/2 requests with one content type, such as gRPC. Other requests never reach them, and their
 * requests never reach the configured endpoints. On a plain port, such connections can start with HTTP/2 (prior
 * knowledge); other requests on them are rejected with 415 unless `use_h2c` is set.
 */
export interface Http2Endpoints {
  /** Prefix of the content types in lowercase, for example `application/grpc`. */
  readonly contentType: string;
  readonly endpoints: readonly Http2Endpoint[];
  /** Handles requests of this content type that match none of the endpoints. */
  readonly otherwise: Step<ClientRequest>;
}

/** An endpoint published by a component: a pipe in its configuration, see `endpointPipeSchema`. */
export interface Http2Endpoint {
  /** Pointer of the endpoint, relative to the configuration of the component. */
  readonly at: string;
  /** The complete endpoint. Its path is compared byte by byte. */
  readonly endpoint: EndpointConfig;
  /** Outermost wrap, which implements the protocol of the client. */
  readonly outer: (traits: PipeTraits) => Wrap<ClientRequest>;
  /**
   * Innermost wrap, which runs after authentication and limits: creates the request for the pipe, and a reply from its
   * data.
   */
  readonly inner: (traits: PipeTraits) => Wrap<ClientRequest>;
}

/** Properties of a pipe. */
export interface PipeTraits {
  /** True if a component reads the data of replies. */
  readonly readsData: boolean;
}
