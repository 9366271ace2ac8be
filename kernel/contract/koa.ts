import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';

/**
 * What middleware finds of Koa's context without Koa's types; with them (`@types/koa`) it says `Koa.Context` itself.
 */
export interface KoaContext {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  method: string;
  /** Path and query. */
  url: string;
  path: string;
  querystring: string;
  readonly headers: IncomingHttpHeaders;
  readonly ip: string;
  status: number;
  body: unknown;
  /** For middleware to leave something for others. */
  readonly state: Record<string, unknown>;
  /** A header of the request; empty without one. */
  get(name: string): string;
  /** Sets a header of the answer. */
  set(name: string, value: string | string[]): void;
}

/** A method, so that middleware which asks for more of the context, such as any published one, fits. */
interface Around {
  call(context: KoaContext, next: () => Promise<void>): unknown;
}

/** Any Koa middleware. */
export type KoaMiddleware = Around['call'];
