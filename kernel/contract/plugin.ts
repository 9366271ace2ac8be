import type { DataObject } from '../values/data.ts';
import type { AdminSettings } from './admin.ts';
import type { AuditRule } from './audit.ts';
import type { Call } from './call.ts';
import type { ClientRequest } from './client-request.ts';
import type { PluginCommand } from './command.ts';
import type { BackendCondition } from './condition.ts';
import type { EndpointConfig } from './config.ts';
import type { Conversion } from './conversion.ts';
import type { Discovery } from './discovery.ts';
import type { Encoding } from './encoding.ts';
import type { Level, Namespace } from './extra-config.ts';
import type { HeaderBag } from './headers.ts';
import type { HttpOptions } from './http.ts';
import type { KoaMiddleware } from './koa.ts';
import type { AccessRecord, Logging } from './logging.ts';
import type { ExpectedBelow, Meaning } from './meaning.ts';
import type { PipeRequest } from './message.ts';
import type { Http2Endpoints, OwnRoute } from './own-endpoints.ts';
import type { Offer, Port } from './port.ts';
import type { Protocol } from './protocol.ts';
import type { Infer, Schema } from './schema.ts';
import type { AgentSite, BackendSite, EndpointSite, HttpSite, Site } from './site.ts';
import type { Step, Wrap } from './step.ts';
import type { VirtualHosts } from './virtual-hosts.ts';

/** Properties of an attachment that the compiler needs. */
export interface AttachmentTraits {
  /**
   * The attachment reads the data of replies, so replies must be decoded. Rejected where bytes pass through, unless it
   * has a `message` hook and the output consists of messages. `optional`: the attachment also works without data.
   */
  readonly readsData?: true | 'optional';
  /** The attachment can answer without calling the wrapped step; components it can bypass are reported by name. */
  readonly terminal?: true;
  /**
   * Headers that it sets on backend requests, for example `['X-Role']`. Client headers that differ only in `_` or `.`
   * for `-` are dropped, because some backends treat them as equal. Removing an equal one is up to the component.
   */
  readonly sets?: readonly string[];
  /** Values for other plugins; every port must be listed in `offers` of the plugin. */
  readonly offers?: readonly Offer[];
}

/** Replacement of one configuration by the next. */
export interface ReloadSettings {
  /** Maximum time for requests of the replaced configuration before they are aborted, in milliseconds. */
  readonly drainMs: number;
  /** Maximum time for streams of changed endpoints before they are ended gracefully, in milliseconds. */
  readonly streamDrainMs: number;
  /** Number of replaced configurations with open requests at which file changes are postponed. */
  readonly maxDraining: number;
  /** Observation period of an applied file change, in milliseconds; 0 disables the guard. */
  readonly guardMs: number;
}

/** Status and headers of a response about to be written. */
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
  /** Sees status and headers of every response last and can change them; must be synchronous. Exceptions are logged. */
  readonly head?: (head: Head, request: ClientRequest, call: Call) => void;
  /**
   * Called for every request after its response has ended or its client has disconnected, even if the access log skips
   * it; must be synchronous. Exceptions are logged.
   */
  readonly finished?: (record: AccessRecord) => void;
  /** Endpoints `/__virtual/<name>/…` serve requests for certain hosts only, at the rest of their paths. */
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
  /** Replacement of the previous configuration. */
  readonly reload?: ReloadSettings;
  /** Attaches to every endpoint, inside the endpoint's own components. */
  readonly eachEndpoint?: (site: EndpointSite<unknown>) => AtEndpoint;
  /** Attaches to every backend, inside the backend's own components. */
  readonly eachBackend?: (site: BackendSite<unknown>) => AtBackend;
  /** For a component that is `independent` except for certain endpoints: everything is attached anew if one of these is added, removed or changed. */
  readonly learnsFrom?: (endpoint: EndpointConfig) => boolean;
}

/** Calls the backends of an endpoint and merges their replies. */
export interface Gather {
  /** Name of the order in logs. */
  readonly name: string;
  /** Calls backends sequentially, so that later ones can use `{resp0_field}` of earlier ones. */
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
  /** Replaces the parallel merge. */
  readonly gather?: Gather;
  /** Reshapes the merged data; only for endpoints with several backends. */
  readonly shape?: (data: DataObject) => DataObject;
  /** Merges the responses of a parallel call, in declaration order. Default: later keys win. */
  readonly combine?: (replies: readonly DataObject[]) => DataObject;
  /** For outputs of messages: processes each message after the backend's hooks, innermost first. */
  readonly message?: MessageHook;
  /** Protocols that client connections can switch to: `ClientRequest.upgrade` is the requested one, and a wrap accepts it with `Reply.upgraded`. */
  readonly upgrades?: readonly string[];
  /** Attaches to every backend of the endpoint, inside the backend's own components. */
  readonly eachBackend?: (site: BackendSite<unknown>) => AtBackend;
  /** Limits of the request body, in addition to the service's: the smaller size applies, and either setting enables decompression. */
  readonly payload?: { readonly maxBytes?: number; readonly inflate?: boolean };
}

export interface AtBackend extends AttachmentTraits {
  /** Calls the backend only if this condition is true; otherwise it is neither part of the response nor a failure. Outside of all wraps. */
  readonly condition?: BackendCondition;
  /** Wraps the selection of the host and all wraps of the backend. Can call the wrapped step several times: see `triedHosts`. */
  readonly attempts?: Wrap<PipeRequest>;
  /** Wraps one backend's request and its decoded, shaped reply. */
  readonly backend?: Wrap<PipeRequest>;
  /** Wraps one backend's request and its raw reply: original status, undecoded bytes. */
  readonly transport?: Wrap<PipeRequest>;
  /** The transport wrap requires HTTP: with another protocol it is omitted, with a warning. */
  readonly onlyHttp?: true;
  /** Replaces HTTP. */
  readonly protocol?: Protocol;
  /** Replaces `allow`, `deny` and `mapping`: runs after `target` and before `group`. */
  readonly shape?: (data: DataObject) => DataObject;
  /** For outputs of messages: processes each shaped message, innermost first. */
  readonly message?: MessageHook;
  /** Sends the backend a copy of the traffic and discards its response. Default timeout: the endpoint's. */
  readonly shadow?: { readonly timeoutMs?: number };
}

/** Driver of an agent: receives messages from `site.start` on, and runs the agent's pipe for each with `site.run`. */
export type AtAgent = AttachmentTraits;

/** A position of a namespace, the schema of its configuration there, and its attachments. */
export type Place =
  | { readonly at: 'service'; readonly schema: Schema; readonly attach: (site: Site<never>) => AtService }
  | { readonly at: 'endpoint'; readonly schema: Schema; readonly attach: (site: EndpointSite<never>) => AtEndpoint }
  | { readonly at: 'backend'; readonly schema: Schema; readonly attach: (site: BackendSite<never>) => AtBackend }
  | { readonly at: 'agent'; readonly schema: Schema; readonly attach: (site: AgentSite<never>) => AtAgent };

/** The file that a plugin was loaded from. */
export interface PluginSource {
  /** Absolute path. */
  readonly file: string;
  /** SHA-256 of the file and of every file it imports by a relative path; different content is a different instance. */
  readonly hash: string;
  /** Absolute paths of the file and of all these imports. */
  readonly files: readonly string[];
}

/** A plugin: data first, functions last. */
export interface Plugin {
  readonly name: Namespace;
  /** Version of this contract. Required for plugins that are loaded from files. */
  readonly contract?: 1;
  /** Set by the loader for plugins that are loaded from files. */
  readonly source?: PluginSource;
  /** Handlers that configurations of other plugins name. Each is listed, counted and suspended individually (`Site.contain`). */
  readonly handlers?: readonly string[];
  /**
   * Version of the state kept by `site.keep` and `site.share`. State passes on to a changed file with the same version.
   * Default: state belongs to one content of the file.
   */
  readonly keeps?: number;
  /** One sentence for the reference. */
  readonly description: string;
  readonly places?: readonly Place[];
  /**
   * Declares that attachments at the root depend only on endpoints that `learnsFrom` selects, and release everything
   * that they register for an endpoint together with it. Required for endpoints to be reused across reloads; not needed
   * if the plugin passes nothing to endpoints.
   */
  readonly independent?: true;
  /** Endpoints with this component can omit `backend`, which is then filled in and must never be called. */
  readonly answersAlone?: true;
  /** Backends with this component contain their own address: their `host` is neither required nor called. */
  readonly hostless?: true;
  /** Rejects requests at an endpoint whose credentials, or rights, are not sufficient. */
  readonly guards?: true;
  /** Components that must be configured at the root together with this one. */
  readonly requires?: readonly Namespace[];
  /** Components without which this one has no effect: a warning if they are missing at the root. */
  readonly expects?: readonly Namespace[];
  /** Component that some endpoint must have for this one to have an effect at the root: a warning if none has. */
  readonly expectsBelow?: ExpectedBelow;
  /** Current field names by version 2 name. */
  readonly oldFields?: { readonly [name: string]: string };
  /** Current names of handlers, listed in the field `name`, by version 2 name. */
  readonly oldHandlers?: { readonly [name: string]: string };
  /**
   * Converts forms of KrakenD into current ones in a version 3 document, before validation. Modifies the
   * document, which can contain any errors.
   */
  readonly convert?: (document: DataObject, report: Conversion) => void;
  /** Components that `convert` writes, and defaults of its pipes. They are loaded together with it. */
  readonly becomes?: readonly Namespace[];
  /** URL schemes of the backends it reaches, with the equivalent HTTP scheme, for example `{ grpc: 'http' }`. */
  readonly schemes?: { readonly [scheme: string]: 'http' | 'https' };
  /** Root fields that open a port, for example `/listen`: a change opens another one. */
  readonly opens?: readonly string[];
  /** Keys of its configuration are data, and say nothing about their values, such as whether they are secrets. */
  readonly freeKeys?: true;
  /**
   * Parts that it never changes: `requests` (headers and parameters of backend requests) or `data` (backend responses).
   * Default: unknown, so nothing is reported as unused.
   */
  readonly leaves?: readonly ('requests' | 'data')[];
  /** Audit rules, for a missing or badly configured component. */
  readonly audit?: readonly AuditRule[];
  /** Commands of the command line, named by one or two words. */
  readonly commands?: { readonly [name: string]: PluginCommand };
  /** Effects of its configuration on other components. The configuration is not validated yet. */
  readonly meaning?: (config: Readonly<DataObject>, level: Level) => Meaning;
  /**
   * Attaches to every service without a namespace in its configuration: for `Catalogue.always`, and for plugins in code
   * or from files.
   */
  readonly always?: (site: Site<undefined>) => AtService;
  readonly encodings?: readonly Encoding[];
  readonly discoveries?: readonly Discovery[];
  /**
   * For `Catalogue.defaultProtocol`: creates the client returned by `Site.http`. Endpoint and backend are set if the
   * place has them; `config` is the plugin's own configuration there.
   */
  readonly http?: (site: HttpSite, options: HttpOptions) => Step<PipeRequest>;
  /** Ports at which its attachments can offer values. Plugins that take them are attached later. */
  readonly offers?: readonly Port<unknown>[];
  /** Ports from which its attachments take values. */
  readonly takes?: readonly Port<unknown>[];
  /** For plugins that the order table does not name: placed directly outside this one. Default: innermost. */
  readonly outside?: Namespace;
  /** For plugins that the order table does not name: placed directly inside this one. */
  readonly inside?: Namespace;
}

/** Declares a plugin. Every plugin file exports one as `plugin`. */
export function definePlugin(plugin: Plugin): Plugin {
  return Object.freeze(plugin);
}

/** `attach` is called once for every configuration with the namespace at the root. */
export function atService<const S extends Schema>(schema: S, attach: (site: Site<Infer<S>>) => AtService): Place {
  return { at: 'service', schema, attach: attach as unknown as (site: Site<never>) => AtService };
}

/** `attach` is called for every endpoint with the namespace. */
export function atEndpoint<const S extends Schema>(
  schema: S,
  attach: (site: EndpointSite<Infer<S>>) => AtEndpoint,
): Place {
  return { at: 'endpoint', schema, attach: attach as unknown as (site: EndpointSite<never>) => AtEndpoint };
}

/** `attach` is called for every backend with the namespace. */
export function atBackend<const S extends Schema>(
  schema: S,
  attach: (site: BackendSite<Infer<S>>) => AtBackend,
): Place {
  return { at: 'backend', schema, attach: attach as unknown as (site: BackendSite<never>) => AtBackend };
}

/** `attach` is called for every agent whose driver has the namespace. */
export function atAgent<const S extends Schema>(
  schema: S,
  attach: (site: AgentSite<Infer<S>>) => AtAgent | void,
): Place {
  return { at: 'agent', schema, attach: attach as unknown as (site: AgentSite<never>) => AtAgent };
}
