import type Koa from 'koa';
import { isObject, type Log } from '#contract';
import type { Operations } from '#kernel';
import { readBody } from './body.ts';
import { addressOf, callerOf, demandScope } from './caller.ts';
import { demandIfMatch, demandMatch } from './etag.ts';
import type { Authenticate } from './guards/token.ts';
import type { Idempotency } from './idempotency.ts';
import type { Admin, Operation } from './operation.ts';
import { Problem } from './problem.ts';
import { respondProblem } from './respond.ts';

/** Dependencies for serving an operation. */
export interface OperationContext {
  readonly admin: Admin;
  readonly authenticate: Authenticate;
  readonly idempotency: Idempotency;
  readonly log: Log;
}

/** An operation as router middleware: checks token, scope, query and preconditions, then runs the operation. */
export function serveOperation(operation: Operation, means: OperationContext): Koa.Middleware {
  const { admin, authenticate } = means;
  const { scope, openOnLoopback } = operation;
  const run = runnerOf(operation, means);
  const names = new Set(operation.parameters?.filter((one) => one.in === 'query').map(({ name }) => name));
  return async (ctx) => {
    if (scope !== null && !(openOnLoopback && isLocal(ctx))) {
      await authenticate(ctx);
      await run(ctx, () => {
        demandScope(ctx, scope);
        demandKnownQuery(ctx, names);
      });
      return;
    }
    await operation.handle(ctx, admin);
  };
}

type Run = (ctx: Koa.Context, permit: () => void) => Promise<void>;

/** @returns a function that runs the operation if `permit` allows it. */
function runnerOf(operation: Operation, { admin, idempotency, log }: OperationContext): Run {
  const { method, scope, changes, accepts = [], handle } = operation;
  const { gateway } = admin;
  const plain: Run = async (ctx, permit) => {
    permit();
    await handle(ctx, admin);
  };
  const conditional: Run = async (ctx, permit) => {
    permit();
    if (admin.settings.require_if_match) demandIfMatch(ctx);
    // The body is read first, because the response to an earlier request with the same key is repeated regardless of
    // the serving configuration.
    const isRead = accepts.length > 0 && ctx.get('idempotency-key') !== '';
    const body = isRead ? await readBody(ctx, admin, accepts) : null;
    await idempotency.once(ctx, callerOf(ctx)?.id ?? '', body?.bytes ?? null, () =>
      orProblem(ctx, async () => {
        demandMatch(ctx, gateway.status);
        await handle(ctx, admin);
      }),
    );
  };
  const orProblem = async (ctx: Koa.Context, task: () => Promise<void>): Promise<void> => {
    try {
      await task();
    } catch (error) {
      respondProblem(ctx, gateway, log, error);
    }
  };
  const inner = changes ? conditional : plain;
  if (method === 'GET' || (scope !== 'write' && scope !== 'ops')) return inner;
  return async (ctx, permit) => {
    const { revision } = gateway.status;
    await orProblem(ctx, () => inner(ctx, permit));
    logAudit(ctx, gateway, revision, log);
  };
}

/** Rejects unknown query parameters, so that a mistyped `dry_run` changes nothing. */
function demandKnownQuery(ctx: Koa.Context, names: ReadonlySet<string>): void {
  const unknown = Object.keys(ctx.query).find((name) => !names.has(name));
  if (unknown !== undefined) throw new Problem('bad-request', `unknown query parameter ${JSON.stringify(unknown)}`);
}

function isLocal(ctx: Koa.Context): boolean {
  const address = addressOf(ctx);
  return address === null || address === '::1' || address.startsWith('127.');
}

/** Writes the sender, the operation and its result to the audit log, but never the body. @param before the revision that served before the request. */
function logAudit(ctx: Koa.Context, { status: { revision } }: Operations, before: number, log: Log): void {
  const body: unknown = ctx.body;
  const result = isObject(body) ? (body['result'] ?? 'done') : ctx.status < 300 ? 'done' : 'refused';
  const who = `token=${JSON.stringify(callerOf(ctx)?.id ?? null)} ip=${addressOf(ctx) ?? 'unix'}`;
  const what = `${ctx.method} ${ctx.path} status=${ctx.status} result=${result}`;
  log.info(`${who} ${what} revision=${before === revision ? revision : `${before}->${revision}`}`);
}
