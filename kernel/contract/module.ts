import type { ClientHost, ModuleHost, ServerHost } from './module-host.ts';
import type {
  Failure,
  GivenRequest,
  GivenResponse,
  ModifiedResponse,
  ModuleContext,
  PluginRequest,
  PluginResponse,
  ServerRequest,
} from './module-messages.ts';

type Soon<T> = T | Promise<T>;

/**
 * Continues with the request as it is, or with another one, and returns the response.
 * @throws Error if the rest of the pipe fails; if not caught, the error becomes the response.
 */
export type MiddlewareNext = (request?: GivenRequest) => Promise<PluginResponse>;

/** A handler that runs around the rest of the pipe. */
export type MiddlewareHandler = (
  context: ModuleContext,
  request: PluginRequest,
  next: MiddlewareNext,
) => Soon<GivenResponse>;

/** A handler that changes a request in place, or returns another one. */
export type RequestModifier = (request: PluginRequest, context: ModuleContext) => Soon<GivenRequest | undefined | void>;

/** A handler that changes a response in place, or returns another one. */
export type ModifyResponse = (
  response: ModifiedResponse,
  context: ModuleContext,
) => Soon<GivenResponse | undefined | void>;

/** A response modifier that is also notified of failed calls. */
export interface ResponseModifier {
  modify?: ModifyResponse;
  /** Called instead of `modify` when the call, or a part of it, failed. Cannot change the response. */
  onError?(failure: Failure, context: ModuleContext): unknown;
}

/** A handler that sends a backend request in place of the gateway's HTTP client, and returns the response. */
export type ClientHandler = (request: Request, context: ModuleContext) => Soon<Response>;

/** Continues with the request, or with another one, and returns the response. */
export type ServerNext = (request?: Request) => Promise<Response>;

/** A handler that runs around all processing of client requests. */
export type ServerHandler = (request: ServerRequest, next: ServerNext) => Soon<Response>;

/**
 * Creates a handler for one service, endpoint or backend in a configuration. A factory that returns a promise is
 * awaited before the configuration serves.
 */
export type HandlerFactory<Settings, Handler, Host extends ModuleHost = ModuleHost> = (
  config: Settings,
  host: Host,
) => Soon<Handler>;

/** The configuration of a namespace at the root, an endpoint or a backend: the settings of each module are under the module's name. */
export type NamespaceConfig<Settings, Name extends string> = { readonly [key in Name]: Settings };

/**
 * A module in KrakenD's form, exported as `plugin`, alone or in a list. It is plain data, so its types need
 * no import at run time:
 *
 *     export const plugin = { name: 'team', apiVersion: 1, … } satisfies PluginModule<{ team: string }>;
 *
 * `Settings` is the type of the settings under its name, which `configSchema` validates. `Name` is its name: kinds
 * other than middleware receive the whole namespace and find their settings under that name.
 */
export interface PluginModule<Settings = unknown, Name extends string = string> {
  /** Name in configurations. */
  readonly name: Name;
  readonly apiVersion: 1;
  /** JSON Schema of the settings; its defaults are filled in. */
  readonly configSchema?: Readonly<Record<string, unknown>>;
  /** Runs the module in a worker thread of its own. Cannot be combined with `httpServer`. Default: false. */
  readonly isolate?: boolean;
  middleware?: HandlerFactory<Settings, MiddlewareHandler>;
  requestModifier?: HandlerFactory<NamespaceConfig<Settings, Name>, RequestModifier>;
  responseModifier?: HandlerFactory<NamespaceConfig<Settings, Name>, ModifyResponse | ResponseModifier>;
  httpClient?: HandlerFactory<NamespaceConfig<Settings, Name>, ClientHandler, ClientHost>;
  httpServer?: HandlerFactory<NamespaceConfig<Settings, Name>, ServerHandler, ServerHost>;
  /** Called when no configuration uses the module anymore. */
  dispose?(): Soon<void>;
}
