import type { IncomingMessage, ServerResponse } from 'node:http';
import { Router } from '@koa/router';
import Koa from 'koa';
import type { Log } from '#contract';
import { acceptHeaders } from './body.ts';
import { cors } from './cors.ts';
import { type Pages, servePages } from './dashboard/pages.ts';
import { guardConnection } from './guards/connection.ts';
import { createFailureCounter } from './guards/failures.ts';
import { createTokenGuard } from './guards/token.ts';
import { createIdempotency } from './idempotency.ts';
import { createRunner, type RunOperation } from './mcp/run-operation.ts';
import type { Admin, Operation } from './operation.ts';
import { Problem } from './problem.ts';
import { outermost, respondProblem } from './respond.ts';
import { serveOperation } from './serve-operation.ts';

/** Handles one request to the admin port. */
export type RequestListener = (request: IncomingMessage, response: ServerResponse) => void;

/** The admin API as a server application. */
export interface App {
  readonly respond: RequestListener;
  /** Runs an operation within another request. */
  readonly run: RunOperation;
}

/** Creates an application that serves the operations behind all guards. */
export function createApp(admin: Admin, operations: readonly Operation[], pages: Pages, log: Log): App {
  const { gateway } = admin;
  const now = () => performance.now();
  const authenticate = createTokenGuard(admin.sessions, createFailureCounter(now), log);
  const means = { admin, authenticate, idempotency: createIdempotency(now), log };
  const steps = new Map<Operation, Koa.Middleware>();
  const router = new Router({ sensitive: true, strict: true });
  const pathsWithoutToken = new Set(operations.filter(({ scope }) => scope === null).map(({ path }) => path));
  for (const operation of operations) {
    const step = serveOperation(operation, means);
    steps.set(operation, step);
    router.register(operation.path, [operation.method], step);
  }
  const settings = () => admin.settings;
  const app = new Koa();
  // Inner middleware has already responded to errors. Only responses that their client interrupted lead to an error
  // here.
  app.on('error', (error: Error) => log.debug(() => `the response was interrupted: ${error.message}`));
  app.use(outermost(gateway, log));
  app.use(guardConnection(settings));
  app.use(cors(settings));
  app.use(async (ctx, next) => {
    if (ctx.method !== 'OPTIONS') return next();
    const allowed = allowedAt(router, ctx.path);
    if (allowed.length === 0) throw new Problem('not-found', `${ctx.path} does not exist`);
    ctx.set({ Allow: allowed.join(', '), ...acceptedAt(router, operations, ctx.path) });
    ctx.status = 204;
  });
  app.use(servePages(pages, settings));
  app.use(router.routes());
  app.use(async (ctx) => {
    if (!pathsWithoutToken.has(ctx.path)) await authenticate(ctx);
    const allowed = allowedAt(router, ctx.path);
    if (allowed.length === 0) throw new Problem('not-found', `${ctx.path} does not exist`);
    const headers = { Allow: allowed.join(', ') };
    throw new Problem('method-not-allowed', `${ctx.path} does not support ${ctx.method}`, { headers });
  });
  const failed = (ctx: Koa.Context, error: unknown) => respondProblem(ctx, gateway, log, error);
  return { respond: app.callback(), run: createRunner(app, (operation) => steps.get(operation)!, failed) };
}

/** Media types that a path accepts, for the methods that have an `Accept-*` header. */
function acceptedAt(router: Router, operations: readonly Operation[], path: string): Record<string, string> {
  const paths = new Set(router.match(path, 'OPTIONS').path.map((layer) => layer.path));
  const taking = operations.filter(({ path: own, method, accepts }) => {
    return paths.has(own) && accepts !== undefined && acceptHeaders[method] !== undefined;
  });
  return Object.fromEntries(taking.map(({ method, accepts }) => [acceptHeaders[method]!, accepts!.join(', ')]));
}

/** Methods of a path; empty for an unknown path. */
function allowedAt(router: Router, path: string): string[] {
  const methods = router.match(path, 'OPTIONS').path.flatMap((layer) => layer.methods);
  return methods.length === 0 ? [] : [...new Set(methods), 'OPTIONS'].sort();
}
