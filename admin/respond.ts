import { randomUUID } from 'node:crypto';
import type Koa from 'koa';
import type { Log } from '#contract';
import { ConfigErrors, GatewayError, type Operations, recordOf, toRefusal } from '#kernel';
import { Problem } from './problem.ts';
import { type ProblemDocument, problemDocument, refusalDocument } from './problem-document.ts';

const requestIds = new WeakMap<Koa.Context, string>();

/** Sets the headers common to all responses. A client may choose its request id. */
function commonHeaders({ status }: Operations, ctx: Koa.Context): void {
  const given = ctx.get('x-request-id');
  const requestId = /^[\w.:/+=-]{1,128}$/.test(given) ? given : randomUUID();
  requestIds.set(ctx, requestId);
  ctx.set({
    'X-Request-Id': requestId,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Gateway-Revision': String(status.revision),
  });
}

/** Responds with an error: rejections and problems as they are, anything else as an internal error. */
export function respondProblem(ctx: Koa.Context, gateway: Operations, log: Log, error: unknown): void {
  const document = documentOf(ctx, gateway, log, error);
  ctx.status = document.status;
  if (error instanceof Problem) ctx.set({ ...error.headers });
  if (document.type.endsWith(':reload-in-progress')) ctx.set('Retry-After', '1');
  ctx.set('Content-Type', 'application/problem+json');
  ctx.body = JSON.stringify(document);
}

function documentOf(ctx: Koa.Context, gateway: Operations, log: Log, error: unknown): ProblemDocument {
  const { revision } = gateway.status;
  const request = { instance: ctx.path, requestId: requestIds.get(ctx), revision };
  if (error instanceof Problem) return problemDocument(error.slug, error.message, { ...request, ...error.members });
  if (error instanceof ConfigErrors) {
    const refusal = toRefusal(error, 'read', null);
    return refusalDocument(recordOf(refusal), revision, { ...request, ...attemptOf(gateway, error) });
  }
  const slug = error instanceof GatewayError ? waitingSlugs[error.code] : undefined;
  if (slug) return problemDocument(slug, (error as GatewayError).message, request);
  log.error(() => `${ctx.method} ${ctx.path} failed: ${error instanceof Error ? error.stack : error}`);
  const detail = `An internal error; revision ${revision} stays active.`;
  return problemDocument('internal', detail, { ...request, ...attemptOf(gateway, error) });
}

/** Names of the problems that are reported for changes that were not attempted, by error code. */
const waitingSlugs: Readonly<Record<string, 'reload-in-progress' | 'draining'>> = {
  RELOAD_IN_PROGRESS: 'reload-in-progress',
  GATEWAY_CLOSED: 'draining',
};

/** The attempt that failed with an error. */
function attemptOf({ attempts }: Operations, error: unknown): { readonly attempt?: number } {
  const attempt = attempts.endedBy(error);
  return attempt === undefined ? {} : { attempt };
}

/** Outermost middleware of every request. */
export function outermost(gateway: Operations, log: Log): Koa.Middleware {
  return async (ctx, next) => {
    commonHeaders(gateway, ctx);
    try {
      await next();
    } catch (error) {
      respondProblem(ctx, gateway, log, error);
    }
    ctx.set('Gateway-Revision', String(gateway.status.revision));
  };
}
