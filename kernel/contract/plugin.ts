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
import type { AgentSite, BackendSite, EndpointSite, Site } from './site.ts';
import type { Step, Wrap } from './step.ts';
import type { VirtualHosts } from './virtual-hosts.ts';

/** What an attachment tells the compiler about itself. */
export interface AttachmentTraits {
  /**
   * The attachment looks at a reply's data, so replies must be decoded. Refused where bytes pass undecoded, unless it
   * has a `message` hook and the output is one of messages. `optional`: it then finds no data and can do without.
   */
  readonly readsData?: true | 'optional';
  /** The attachment may answer without calling what it wraps; what it hides is reported by name. */
  readonly terminal?: true;
  /**
   * Headers it sets on requests to backends, as in `['X-Role']`. Some backends take `X_Role` for that: of a client such a
   * look-alike (`_` or `.` for `-`) is dropped. To take the client's own `X-Role` away is for whoever sets it.
   */
  readonly sets?: readonly string[];
  /** What other plugins may take; its plugin names every port in `offers`. */
  readonly offers?: readonly Offer[];
}

/** How a configuration takes the place of the one before it. */
export interface ReloadSettings {
  /** How long requests of the replaced configuration may go on, in milliseconds; then they are aborted. */
  readonly drainMs: number;
  /** How long streams of endpoints that have changed may go on, in milliseconds; then they are ended in order. */
  readonly streamDrainMs: number;
  /** Replaced configurations with requests left, at which changed files wait. */
  readonly maxDraining: number;
  /** How long a saved file that was applied is watched over, in milliseconds; 0 not to. */
  readonly guardMs: number;
}

/** Status and headers of an answer, as they are about to be written. */
export interface Head {
  status: number;
  readonly headers: HeaderBag;
}

/** The whole service, before any endpoint is looked for. */
export interface AtService extends AttachmentTraits {
  /**
   * Phase `request`: around everything that is answered, endpoints and the gateway's own paths, 404, 405 and redirects,
   * refusals, failures, timeouts and streams. It may answer by itself, and go on with another target, headers or body:
   * `next(request.with({ path: '/other' }), call)`.
   */
  readonly request?: Wrap<ClientRequest>;
  /** Sees status and headers of every answer last and may change them; must not wait. What it throws is logged. */
  readonly head?: (head: Head, request: ClientRequest, call: Call) => void;
  /**
   * Sees every request once its response has ended or its client has left, whatever the access log skips; must not wait.
   * What it throws is logged.
   */
  readonly finished?: (record: AccessRecord) => void;
  /** Endpoints `/__virtual/<name>/…` are for requests to some hosts only, at the rest of their paths. */
  readonly virtualHosts?: VirtualHosts;
  /** Paths it answers itself. */
  readonly routes?: readonly OwnRoute[];
  /** Endpoints of a protocol over HTTP/2. One component alone may bring those of a content type. */
  readonly http2?: Http2Endpoints;
  /** Any Koa middleware; it stands around everything else and also sees requests that match no endpoint. */
  readonly middleware?: KoaMiddleware;
  /**
   * The middleware looks at `ctx.body` or sets headers after `next`: replies are handed to Koa instead of being written
   * at once. Costs a few microseconds a request.
   */
  readonly readsReply?: true;
  /** How the logs of this configuration are written. */
  readonly logging?: Logging;
  /** How the admin port of this configuration is set. */
  readonly admin?: AdminSettings;
  /** How this configuration replaces another one, and is replaced. */
  readonly reload?: ReloadSettings;
  /** Attaches to every endpoint, inside what the endpoint itself declares. */
  readonly eachEndpoint?: (site: EndpointSite<unknown>) => AtEndpoint;
  /** Attaches to every backend, inside what the backend itself declares. */
  readonly eachBackend?: (site: BackendSite<unknown>) => AtBackend;
  /** Of one that is `independent` but for some endpoints: where one comes, goes or changes, all is attached anew. */
  readonly learnsFrom?: (endpoint: EndpointConfig) => boolean;
}

/** How the backends of an endpoint are called and their replies made one. */
export interface Gather {
  /** Backends are called one after another, and later ones may use `{resp0_field}` of earlier ones. */
  readonly sequential?: true;
  readonly over: (backends: readonly Step<PipeRequest>[]) => Step<PipeRequest>;
}

/**
 * Looks at one message of a stream: what a wrap does to the data of a reply, done to a part of it. The request is the
 * one that was sent to the backend. Must not wait; what it throws drops the message.
 * @returns the data to go on with, null to drop the message.
 */
export type MessageHook = (data: DataObject, request: PipeRequest, call: Call) => DataObject | null;

export interface AtEndpoint extends AttachmentTraits {
  /** The client's request, before the pipe. */
  readonly endpoint?: Wrap<ClientRequest>;
  /** The filtered request and the merged reply. */
  readonly proxy?: Wrap<PipeRequest>;
  /** Replaces the parallel merge. */
  readonly gather?: Gather;
  /** Reshapes the merged data; only endpoints with several backends have that stage. */
  readonly shape?: (data: DataObject) => DataObject;
  /** How the parts of a parallel merge become one object; parts stand in declaration order. Default: later keys win. */
  readonly combine?: (replies: readonly DataObject[]) => DataObject;
  /** On outputs of messages: sees each of them, after the backend's own hooks, innermost first. */
  readonly message?: MessageHook;
  /** Protocols its clients' connections can go on in: `ClientRequest.upgrade` tells which, a wrap answers `Reply.upgraded`. */
  readonly upgrades?: readonly string[];
  /** Attaches to every backend of the endpoint, inside what the backend itself declares. */
  readonly eachBackend?: (site: BackendSite<unknown>) => AtBackend;
  /** Limits on the client's body, besides the service's: the smaller limit and either wish to inflate hold. */
  readonly payload?: { readonly maxBytes?: number; readonly inflate?: boolean };
}

export interface AtBackend extends AttachmentTraits {
  /** The backend is called only where this holds; else it is no part of the answer, and no failure. Outside of everything. */
  readonly condition?: BackendCondition;
  /** One backend's request and its decoded, shaped reply. */
  readonly backend?: Wrap<PipeRequest>;
  /** One backend's request and its raw reply: real status, bytes not yet decoded. */
  readonly transport?: Wrap<PipeRequest>;
  /** The transport wrap is for HTTP: where another protocol reaches the backend it is left out, and the operator is warned. */
  readonly onlyHttp?: true;
  /** Replaces HTTP. */
  readonly protocol?: Protocol;
  /** Replaces `allow`, `deny` and `mapping`: runs after `target` and before `group`. */
  readonly shape?: (data: DataObject) => DataObject;
  /** On outputs of messages: sees each of them, shaped, innermost first. */
  readonly message?: MessageHook;
  /** The backend gets a copy of the traffic and its answer is dropped. Default timeout: the endpoint's. */
  readonly shadow?: { readonly timeoutMs?: number };
}

/** The driver of an agent: receives messages, from `site.start` on, and runs the agent's pipe for each with `site.run`. */
export type AtAgent = AttachmentTraits;

/** Where a namespace may stand, the schema of its configuration there, and what it attaches. */
export type Place =
  | { readonly at: 'service'; readonly schema: Schema; readonly attach: (site: Site<never>) => AtService }
  | { readonly at: 'endpoint'; readonly schema: Schema; readonly attach: (site: EndpointSite<never>) => AtEndpoint }
  | { readonly at: 'backend'; readonly schema: Schema; readonly attach: (site: BackendSite<never>) => AtBackend }
  | { readonly at: 'agent'; readonly schema: Schema; readonly attach: (site: AgentSite<never>) => AtAgent };

/** Where an HTTP client is made. */
export type HttpSite = Site<never> & Partial<Pick<BackendSite<never>, 'backend'>>;

/** The file that a plugin was loaded from. */
export interface PluginSource {
  /** Absolute path. */
  readonly file: string;
  /** SHA-256 of the file and of every file it imports by a relative path: another content is another instance. */
  readonly hash: string;
  /** Absolute paths of all of them. */
  readonly files: readonly string[];
}

/** A plugin: data first, functions last. */
export interface Plugin {
  readonly name: Namespace;
  /** The version of this contract that it is written for. Required of plugins that are loaded from files. */
  readonly contract?: 1;
  /** Set by the loader, for plugins that are loaded from files. */
  readonly source?: PluginSource;
  /** Handlers that configurations of other plugins name: each is listed, counted and suspended by itself (`Site.contain`). */
  readonly handlers?: readonly string[];
  /**
   * The form of what it keeps by `site.keep` and `site.share`, by a number of its own. Kept values pass on to another
   * content of its file that has the same number. Default: they belong to one content.
   */
  readonly keeps?: number;
  /** One sentence for the reference. */
  readonly description: string;
  readonly places?: readonly Place[];
  /**
   * What it attaches at the root learns nothing from endpoints that it does not `learnsFrom`: what it notes down of one is
   * known by that alone, or released with it. Only then are unchanged endpoints gone on with over a reload; plugins at the root
   * that hand nothing to endpoints need not say so.
   */
  readonly independent?: true;
  /** Endpoints with this component can omit `backend`, which is then filled in and must never be called. */
  readonly answersAlone?: true;
  /** Rejects requests at an endpoint whose credentials, or rights, are not sufficient. */
  readonly guards?: true;
  /** Components without which it can do nothing: those that must stand at the root where it stands there. */
  readonly requires?: readonly Namespace[];
  /** Components without which it has no effect: a warning where it stands at the root and they do not. */
  readonly expects?: readonly Namespace[];
  /** What some endpoint must have for it to have an effect at the root: a warning where none does. */
  readonly expectsBelow?: ExpectedBelow;
  /** Names that fields of its configuration had in version 2, each with the present one. */
  readonly oldFields?: { readonly [name: string]: string };
  /** Names that handlers listed in the field `name` of its configuration had in version 2, each with the present one. */
  readonly oldHandlers?: { readonly [name: string]: string };
  /**
   * Brings forms that another product has for its configuration into present ones, wherever they stand in a document of
   * version 3 that names it, before anything is checked. Changes the document, which may have mistakes of any kind.
   */
  readonly convert?: (document: DataObject, report: Conversion) => void;
  /** Components that `convert` writes, or the defaults of its pipes: they are loaded with it. */
  readonly becomes?: readonly Namespace[];
  /**
   * Schemes that addresses of the backends it reaches may be written with, each with the one of HTTP that it stands for, as
   * in `{ grpc: 'http' }`.
   */
  readonly schemes?: { readonly [scheme: string]: 'http' | 'https' };
  /** Fields at the root by which it opens a port, as in `/listen`: to change one opens another. */
  readonly opens?: readonly string[];
  /** Keys of its configuration are data: they say nothing about what they hold, such as whether it is a secret. */
  readonly freeKeys?: true;
  /**
   * What it never changes: `requests`, the headers and parameters that backends get, or `data`, what they answer. Default:
   * nothing is known, so that nothing is told of what looks unused.
   */
  readonly leaves?: readonly ('requests' | 'data')[];
  /** What the audit looks for besides: where the component is missing, or is configured badly. */
  readonly audit?: readonly AuditRule[];
  /** Commands of the command line, by their names of one word or two. */
  readonly commands?: { readonly [name: string]: PluginCommand };
  /** What its configuration means for what stands beside it. It may have mistakes: it is not validated yet. */
  readonly meaning?: (config: Readonly<DataObject>, level: Level) => Meaning;
  /**
   * Attaches to every service, without a namespace in its configuration: what `Catalogue.always` names, and plugins that are
   * given or loaded.
   */
  readonly always?: (site: Site<undefined>) => AtService;
  readonly encodings?: readonly Encoding[];
  readonly discoveries?: readonly Discovery[];
  /**
   * For `Catalogue.defaultProtocol`: makes the client that `Site.http` gives. Endpoint and backend are there where the place
   * has them; `config` is what its own namespace says there.
   */
  readonly http?: (site: HttpSite, options: HttpOptions) => Step<PipeRequest>;
  /** Ports at which its attachments may offer something: those who take from them are attached later. */
  readonly offers?: readonly Port<unknown>[];
  /** Ports its attachments take from. */
  readonly takes?: readonly Port<unknown>[];
  /** For plugins the order table does not name: stand just outside this one. Default: innermost. */
  readonly outside?: Namespace;
  /** For plugins the order table does not name: stand just inside this one. */
  readonly inside?: Namespace;
}

/** Declares a plugin; every plugin file exports one as `plugin`. */
export function definePlugin(plugin: Plugin): Plugin {
  return Object.freeze(plugin);
}

/** `attach` is called once for every configuration in which the namespace stands at the root. */
export function atService<const S extends Schema>(schema: S, attach: (site: Site<Infer<S>>) => AtService): Place {
  return { at: 'service', schema, attach: attach as unknown as (site: Site<never>) => AtService };
}

/** `attach` is called for every endpoint the namespace stands in. */
export function atEndpoint<const S extends Schema>(
  schema: S,
  attach: (site: EndpointSite<Infer<S>>) => AtEndpoint,
): Place {
  return { at: 'endpoint', schema, attach: attach as unknown as (site: EndpointSite<never>) => AtEndpoint };
}

/** `attach` is called for every backend the namespace stands in. */
export function atBackend<const S extends Schema>(
  schema: S,
  attach: (site: BackendSite<Infer<S>>) => AtBackend,
): Place {
  return { at: 'backend', schema, attach: attach as unknown as (site: BackendSite<never>) => AtBackend };
}

/** `attach` is called for every agent whose driver the namespace is. */
export function atAgent<const S extends Schema>(
  schema: S,
  attach: (site: AgentSite<Infer<S>>) => AtAgent | void,
): Place {
  return { at: 'agent', schema, attach: attach as unknown as (site: AgentSite<never>) => AtAgent };
}
