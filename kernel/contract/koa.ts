import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';

/**
 * The parts of Koa's context that middleware can use without Koa's types. With `@types/koa`, use `Koa.Context` instead.
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
  /** State shared between middleware. */
  readonly state: Record<string, unknown>;
  /** A request header; empty if it is missing. */
  get(name: string): string;
  /** Sets a response header. */
  set(name: string, value: string | string[]): void;
}

/** Declared as a method, so that middleware whose context type is wider can be assigned. */
interface Around {
  call(context: KoaContext, next: () => Promise<void>): unknown;
}

/** Any Koa middleware. */
export type KoaMiddleware = Around['call'];
