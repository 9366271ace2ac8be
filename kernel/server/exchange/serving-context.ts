import type { IncomingMessage, ServerResponse } from 'node:http';
import type Koa from 'koa';
import type { ClientRequest, FindEndpoint, Log, LogSinks, ProductNames, Role, RouterOptions, Step } from '#contract';
import { runOwned } from '../../contract/internal.ts';
import {
  createAccessWriter,
  type DefaultLogging,
  type JoinedLogging,
  joinLogging,
  type RecordWriter,
  together,
} from '../../logging/index.ts';
import type { Compiled } from '../../pipeline/compile/compile.ts';
import { createRendering } from '../../pipeline/response/render.ts';
import { foldAround } from '../../pipeline/steps/settle.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { dropNamed } from '../http1/framing.ts';
import { Http2Destinations } from '../http2/destinations.ts';
import { compileClientIp } from '../request/client-ip.ts';
import { compileRequestId, requestIdHead } from '../request/id.ts';
import type { Profile } from '../response/coding.ts';
import { type Destinations, destinationsOf } from '../routing/destinations.ts';
import { componentDispatch } from '../routing/dispatch.ts';
import { createFallbackReplies } from '../routing/fallback-replies.ts';
import type { Router } from '../routing/router.ts';
import { compileHeads, type ExchangeContext, type ExchangeMessage, exchangeKey } from './context.ts';
import { Exchange } from './exchange.ts';
import { KoaApp } from './koa-app.ts';
import type { Sampling } from './sample.ts';
import { Sampler } from './sampler.ts';

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

/** A runtime ready to handle requests, with its router, Koa app and access log. */
export interface ServingContext {
  readonly runtime: Runtime;
  readonly router: Router;
  readonly destinations: Destinations;
  /** Log settings of this configuration. */
  readonly logging: JoinedLogging;
  /** Handles one request; never throws. */
  readonly serve: Serve;
  /** Handles one HTTP/2 request; never throws. */
  readonly serveHttp2: Serve;
}

export interface ServingOptions {
  readonly version: string;
  readonly log: Log;
  readonly sinks: LogSinks;
  /**
   * Role of the process. The owner process of workers handles no requests; it looks up endpoints only to inspect its
   * configuration.
   */
  readonly role: Role;
  /** Log settings for configurations in which no component sets them. Default: INFO and above. */
  readonly defaultLogging?: DefaultLogging | undefined;
}

/**
 * Builds everything needed to serve a runtime. Service-level components are the middleware of one Koa app, whose
 * innermost middleware is the exchange with the pipes.
 * @param before the current context, whose routers are reused for the same routes; null for none.
 */
export async function createServingContext(
  runtime: Runtime,
  { version, log, sinks, defaultLogging, role }: ServingOptions,
  before: ServingContext | null = null,
): Promise<ServingContext> {
  const { config, compiled } = runtime;
  const rendering = createRendering(config.router, version);
  const attached = compiled.service.map(({ at }) => at);
  const { router, destinations } = await destinationsOf(config, compiled, before?.destinations, role !== 'owner');
  const middleware = attached.map(({ middleware: layer }) => layer).filter((layer) => layer !== undefined);
  const identify = compileRequestId(config.router);
  const heads = identify ? [requestIdHead(config.router.request_id), ...compiled.heads] : compiled.heads;
  const context: ExchangeContext = {
    destinations,
    rendering,
    fallbacks: createFallbackReplies(config),
    requests: { ipOf: compileClientIp(config.router), findEndpoint: endpointFinder(destinations) },
    identify,
    around: foldService(compiled),
    heads: compileHeads(heads, log),
    options: config.router,
    throughKoa: attached.some(({ readsReply }) => readsReply),
    runtime,
    log,
  };
  runtime.dispatcher.dispatch = componentDispatch(destinations, context.fallbacks);
  // Without middleware, Koa is not used, because it would only add overhead.
  const throughApp = middleware.length > 0 || context.throughKoa;
  const handle = throughApp ? createApp(middleware, rendering.names, profileOf(config.router), log).callback() : null;
  const logging = joinLogging(
    attached.flatMap(({ logging: settings }) => settings ?? []),
    sinks,
    defaultLogging,
  );
  const finished = recordWriter(
    attached.flatMap((at) => at.finished ?? []),
    createAccessWriter(config.router, logging, sinks, log),
    log,
  );
  const begin = (exchange: Exchange, message: IncomingMessage, response: ServerResponse): void => {
    if (handle) void handle(message, response);
    else exchange.serve();
  };
  const serveWith =
    (own: ExchangeContext): Serve =>
    (message: ExchangeMessage, response) => {
      const exchange = new Exchange(own, message, response);
      message[exchangeKey] = exchange;
      runtime.enter(exchange);
      // A response closes only once, so `once` would only add overhead.
      response.on('close', () => {
        exchange.closed();
        finished?.(exchange.record());
      });
      runOwned(exchange.owner, begin, exchange, message, response);
    };
  const serve = serveWith(context);
  const { http2 } = compiled;
  const serveHttp2 = http2
    ? serveWith({ ...context, destinations: new Http2Destinations(destinations, http2) })
    : serve;
  return { runtime, router, destinations, logging, serve, serveHttp2 };
}

/** Combines hooks on finished requests and the access log. Hooks run first, so that data they attach can be logged. */
function recordWriter(measuring: readonly RecordWriter[], access: RecordWriter | null, log: Log): RecordWriter | null {
  const measure = together(measuring, 'a component failed at the end of a request', log);
  if (!measure || !access) return measure ?? access;
  return (record) => {
    measure(record);
    access(record);
  };
}

/** Combines the service-level wraps around all requests into one step; null for none. */
function foldService({ around, routes }: Compiled): Step<ClientRequest> | null {
  if (around.length === 0) return null;
  const dispatch: Step<ClientRequest> = (request, call) => (call.host as Exchange).dispatch(request, call);
  const depth = 1 + routes.reduce((most, { depth: own }) => Math.max(most, own), 0);
  return foldAround(around, dispatch, depth);
}

function endpointFinder(destinations: Destinations): FindEndpoint {
  return (method, path, host) => {
    const destination = destinations.find(method, path, host);
    return destination.kind === 'route' ? destination.route.endpoint : null;
  };
}

/** Settings of response compression; null if compression is off. */
function profileOf({ disable_gzip: isOff, gzip_profile: profile }: RouterOptions): Profile | null {
  return isOff ? null : profile;
}

function createApp(middleware: readonly Koa.Middleware[], names: ProductNames, profile: Profile | null, log: Log): Koa {
  const app = new KoaApp(names, profile, log);
  if (middleware.length > 0) app.use(prepare(names));
  for (const layer of middleware) app.use(layer);
  app.use((context) => (context.req as ExchangeMessage)[exchangeKey]!.run(context));
  return app;
}

/**
 * Sets up the context for service-level middleware: sets the version header, and `state.match()` to look up the
 * endpoint.
 */
function prepare({ header, version }: ProductNames): Koa.Middleware {
  return (context, next) => {
    context.set(header, version);
    const exchange = (context.req as ExchangeMessage)[exchangeKey]!;
    context.state.match = () => exchange.match();
    exchange.prepare();
    return next();
  };
}

/**
 * Holds the current serving context. Swapping is one assignment: a request reads `current` once and keeps it until it
 * ends.
 */
export class ServingCell {
  /** The active context; null before the first configuration. */
  current: ServingContext | null = null;
  /** Number of requests so far. */
  requests = 0;
  /** Copies requests for a process that repeats them; null unless one does. */
  #sampler: Sampler | null = null;

  /** Begins to sample requests in place of an earlier order; null ends sampling. */
  sample(sampling: Sampling | null): void {
    this.#sampler?.close();
    this.#sampler = sampling && new Sampler(sampling);
  }

  /** Handles one request with the current context. */
  readonly serve: Serve = (message, response) => {
    this.requests++;
    dropNamed(message);
    if (this.#sampler !== null) this.#sampler.see(message, response, this.current!.runtime.id);
    this.current!.serve(message, response);
  };

  /** Handles one HTTP/2 request with the current context. */
  readonly serveHttp2: Serve = (message, response) => {
    this.requests++;
    if (this.#sampler !== null) this.#sampler.see(message, response, this.current!.runtime.id);
    this.current!.serveHttp2(message, response);
  };
}
