import type { ClientRequest } from './client-request.ts';
import type { EndpointConfig } from './config.ts';
import type { Step, Wrap } from './step.ts';

/** A path that a plugin answers itself, before any endpoint. */
export interface OwnRoute {
  /** Default: every method. */
  readonly method?: string;
  /** The path, or with `/*` at its end everything below it. */
  readonly path: string;
  /** One sentence for those who list what is served. */
  readonly description: string;
  readonly handle: Step<ClientRequest>;
}

/**
 * Endpoints for requests over HTTP/2 of one content type, as those of gRPC are: no other request reaches them, and none of
 * theirs reaches the endpoints of the configuration. Where plain connections are served they may begin with HTTP/2, by prior
 * knowledge; what else comes that way is refused with 415 unless `use_h2c` is on.
 */
export interface Http2Endpoints {
  /** What the content types of its requests begin with, in lower case, as in `application/grpc`. */
  readonly contentType: string;
  readonly endpoints: readonly Http2Endpoint[];
  /** Answers what none of them is for. */
  readonly otherwise: Step<ClientRequest>;
}

/** An endpoint that a component publishes: a pipe of its configuration, see `endpointPipeSchema`. */
export interface Http2Endpoint {
  /** Where it stands, relative to the configuration of the component. */
  readonly at: string;
  /** What it is, complete; its path is compared as it is, byte for byte. */
  readonly endpoint: EndpointConfig;
  /** Outside of everything that stands around the endpoint: speaks the protocol of the client. */
  readonly outer: (traits: PipeTraits) => Wrap<ClientRequest>;
  /** Inside of credentials and limits: makes the request that the pipe takes, and a reply of its data. */
  readonly inner: (traits: PipeTraits) => Wrap<ClientRequest>;
}

/** What a pipe is made of. */
export interface PipeTraits {
  /** A component looks at the data of replies. */
  readonly readsData: boolean;
}
