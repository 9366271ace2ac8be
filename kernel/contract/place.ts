import type { DataObject } from '../values/data.ts';
import type { AdminSettings } from './admin.ts';
import type { AgentStatus } from './agent-status.ts';
import type { Call } from './call.ts';
import type { ClientRequest } from './client-request.ts';
import type { BackendCondition } from './condition.ts';
import type { EndpointConfig } from './config.ts';
import type { HeaderBag } from './headers.ts';
import type { KoaMiddleware } from './koa.ts';
import type { AccessRecord, Logging } from './logging.ts';
import type { PipeRequest } from './message.ts';
import type { Http2Endpoints, OwnRoute } from './own-endpoints.ts';
import type { Offer } from './port.ts';
import type { Protocol } from './protocol.ts';
import type { Infer, Schema } from './schema.ts';
import type { SecretStore } from './secret-store.ts';
import type { AgentSite, BackendSite, EndpointSite, Site } from './site.ts';
import type { Step, Wrap } from './step.ts';
import type { VirtualHosts } from './virtual-hosts.ts';

/** Properties of an attachment, which is the set of hooks that a plugin returns for one endpoint, backend, agent or the service. */
export interface AttachmentTraits {
  /**
   * The attachment reads the data of replies, so replies must be decoded. Rejected where bytes pass through, unless it
   * has a `message` hook and the output consists of messages. `optional`: the attachment also works without data.
   */
  readonly readsData?: true | 'optional';
  /** The attachment can respond without calling the wrapped step; components it can bypass are reported by name. */
  readonly terminal?: true;
  /**
   * Headers that the component sets on backend requests, for example `['X-Role']`. Client headers that differ only in
   * `_` or `.` for `-` are dropped, because some backends treat them as equal. The component itself must remove a
   * client header with the same name.
   */
  readonly sets?: readonly string[];
  /** Values for other plugins; every port must be listed in `offers` of the plugin. */
  readonly offers?: readonly Offer[];
  /**
   * Names of headers, query parameters and fields that contain credentials, or must not be shown for another reason.
   * Their values are masked where requests are shown to operators. Names that usually contain credentials are masked
   * without it.
   */
  readonly credentials?: readonly string[];
  /**
   * State of an attachment to an endpoint or backend, for operators: a few members with scalar values, for example
   * `{ state: 'open', failures: 3 }`. Called in every process while an operator observes the endpoint; must be
   * synchronous. Null if another process has the state, see `Site.role`.
   */
  readonly state?: () => DataObject | null;
}

/** Replacement of one configuration by the next. */
export interface ReloadSettings {
  /** Maximum time for requests of the replaced configuration before they are aborted, in milliseconds. */
  readonly drainMs: number;
  /** Maximum time for streams of changed endpoints before they are ended gracefully, in milliseconds. */
  readonly streamDrainMs: number;
  /** Number of replaced configurations with open requests from which on file changes are delayed. */
  readonly maxDraining: number;
  /** Observation period of an applied file change, in milliseconds; 0 disables the guard. */
  readonly guardMs: number;
}

/** Status and headers of a response that is about to be written. */
export interface Head {
  status: number;
  readonly headers: HeaderBag;
}

/** Attachments to the whole service, before endpoints are matched. */
export interface AtService extends AttachmentTraits {
  /**
   * Phase `request`: around all responses, including endpoints, the gateway's own paths, 404, 405, redirects,
   * rejections, failures, timeouts and streams. Can answer itself, or continue with another target, headers or body:
   * `next(request.with({ path: '/other' }), call)`.
   */
  readonly request?: Wrap<ClientRequest>;
  /**
   * Called last for every response; sees its status and headers, and can change them. Must be synchronous. Exceptions
   * are logged.
   */
  readonly head?: (head: Head, request: ClientRequest, call: Call) => void;
  /**
   * Called for every request after its response has ended or its client has disconnected, even if the access log skips
   * it; must be synchronous. Exceptions are logged.
   */
  readonly finished?: (record: AccessRecord) => void;
  /**
   * Set if endpoints with paths `/__virtual/<name>/…` serve requests for certain hosts only, at the rest of these
   * paths.
   */
  readonly virtualHosts?: VirtualHosts;
  /** Paths that the plugin serves itself. */
  readonly routes?: readonly OwnRoute[];
  /** Endpoints of a protocol over HTTP/2. Only one component can provide those of a content type. */
  readonly http2?: Http2Endpoints;
  /** Koa middleware around everything else. Also sees requests that match no endpoint. */
  readonly middleware?: KoaMiddleware;
  /**
   * The middleware reads `ctx.body` or sets headers after `next`: replies are passed to Koa instead of being written
   * directly, which costs a few microseconds per request.
   */
  readonly readsReply?: true;
  /** Logging of this configuration. */
  readonly logging?: Logging;
  /** Settings of the admin port. */
  readonly admin?: AdminSettings;
  /** Settings for the replacement of the previous configuration. */
  readonly reload?: ReloadSettings;
  /** The store behind the plugin's `secretSchemes`. */
  readonly secrets?: SecretStore;
  /** Attaches to every endpoint, inside the endpoint's own components. */
  readonly eachEndpoint?: (site: EndpointSite<unknown>) => AtEndpoint;
  /** Attaches to every backend, inside the backend's own components. */
  readonly eachBackend?: (site: BackendSite<unknown>) => AtBackend;
  /**
   * Selects endpoints that an otherwise `independent` component depends on: if one of them is added, removed or
   * changed, everything is attached anew.
   */
  readonly learnsFrom?: (endpoint: EndpointConfig) => boolean;
}

/** Calls the backends of an endpoint and merges their replies. */
export interface Gather {
  /** Name of the order in which the backends are called, for logs. */
  readonly name: string;
  /**
   * Whether the backends are called one after another, so that later ones can use `{resp0_field}`, a field of an
   * earlier response.
   */
  readonly sequential?: true;
  readonly over: (backends: readonly Step<PipeRequest>[]) => Step<PipeRequest>;
}

/**
 * Processes one message of a stream, like a wrap processes the data of a reply. The request is the one sent to the
 * backend. Must be synchronous; an exception drops the message. @returns the data to continue with, or null to drop it.
 */
export type MessageHook = (data: DataObject, request: PipeRequest, call: Call) => DataObject | null;

export interface AtEndpoint extends AttachmentTraits {
  /** Wraps the client's request, before the pipe. */
  readonly endpoint?: Wrap<ClientRequest>;
  /** Wraps the filtered request and the merged reply. */
  readonly proxy?: Wrap<PipeRequest>;
  /** Replaces the default merging, which calls all backends in parallel. */
  readonly gather?: Gather;
  /** Reshapes the merged data; only for endpoints with several backends. */
  readonly shape?: (data: DataObject) => DataObject;
  /** Merges the responses of a parallel call, in declaration order. Default: later keys win. */
  readonly combine?: (replies: readonly DataObject[]) => DataObject;
  /**
   * For streaming outputs of messages: processes each message after the hooks of the backend; inner hooks run first.
   */
  readonly message?: MessageHook;
  /** Protocols that client connections can switch to: `ClientRequest.upgrade` is the requested one, and a wrap accepts it with `Reply.upgraded`. */
  readonly upgrades?: readonly string[];
  /** Attaches to every backend of the endpoint, inside the backend's own components. */
  readonly eachBackend?: (site: BackendSite<unknown>) => AtBackend;
  /** Limits of the request body, in addition to the service's: the smaller size applies, and either setting enables decompression. */
  readonly payload?: { readonly maxBytes?: number; readonly inflate?: boolean };
}

export interface AtBackend extends AttachmentTraits {
  /**
   * Condition under which the backend is called. A backend that is not called is neither part of the response nor a
   * failure. Evaluated before any wrap runs.
   */
  readonly condition?: BackendCondition;
  /**
   * Wraps the selection of the host and all other wraps of the backend. Can call the wrapped step several times, for
   * example for retries: see `triedHosts`.
   */
  readonly attempts?: Wrap<PipeRequest>;
  /** Wraps one backend's request and its decoded, shaped reply. */
  readonly backend?: Wrap<PipeRequest>;
  /** Wraps one backend's request and its raw reply: original status, undecoded bytes. */
  readonly transport?: Wrap<PipeRequest>;
  /** Whether the wrap `transport` requires HTTP. With another protocol it is omitted, with a warning. */
  readonly onlyHttp?: true;
  /** Protocol to call the backend with, instead of HTTP. */
  readonly protocol?: Protocol;
  /** Replaces `allow`, `deny` and `mapping`: runs after `target` and before `group`. */
  readonly shape?: (data: DataObject) => DataObject;
  /** For streaming outputs of messages: processes each shaped message; inner hooks run first. */
  readonly message?: MessageHook;
  /**
   * Whether the backend receives a copy of the traffic, and its response is discarded. Default timeout: the endpoint's.
   */
  readonly shadow?: { readonly timeoutMs?: number };
}

/** Driver of an agent: receives messages from `site.start` on, and runs the agent's pipe for each with `site.run`. */
export interface AtAgent extends AttachmentTraits {
  /** State of the agent, for `GET /v1/agents` of the admin API. Must be synchronous. */
  readonly status?: () => AgentStatus;
}

/**
 * A level of the configuration (service, endpoint, backend or agent) at which a plugin can be configured, with the
 * schema of its settings there, and the function that returns its hooks.
 */
export type Place =
  | { readonly at: 'service'; readonly schema: Schema; readonly attach: (site: Site<never>) => AtService }
  | { readonly at: 'endpoint'; readonly schema: Schema; readonly attach: (site: EndpointSite<never>) => AtEndpoint }
  | { readonly at: 'backend'; readonly schema: Schema; readonly attach: (site: BackendSite<never>) => AtBackend }
  | { readonly at: 'agent'; readonly schema: Schema; readonly attach: (site: AgentSite<never>) => AtAgent };

/** Declares that a component can be configured at the root of the configuration. `attach` is called once for every configuration that does so. */
export function atService<const S extends Schema>(schema: S, attach: (site: Site<Infer<S>>) => AtService): Place {
  return { at: 'service', schema, attach: attach as unknown as (site: Site<never>) => AtService };
}

/** Declares that a component can be configured at an endpoint. `attach` is called for every endpoint that does so. */
export function atEndpoint<const S extends Schema>(
  schema: S,
  attach: (site: EndpointSite<Infer<S>>) => AtEndpoint,
): Place {
  return { at: 'endpoint', schema, attach: attach as unknown as (site: EndpointSite<never>) => AtEndpoint };
}

/** Declares that a component can be configured at a backend. `attach` is called for every backend that does so. */
export function atBackend<const S extends Schema>(
  schema: S,
  attach: (site: BackendSite<Infer<S>>) => AtBackend,
): Place {
  return { at: 'backend', schema, attach: attach as unknown as (site: BackendSite<never>) => AtBackend };
}

/** Declares that a component can be configured as the driver of an agent. `attach` is called for every agent that does so. */
export function atAgent<const S extends Schema>(
  schema: S,
  attach: (site: AgentSite<Infer<S>>) => AtAgent | void,
): Place {
  return { at: 'agent', schema, attach: attach as unknown as (site: AgentSite<never>) => AtAgent };
}
