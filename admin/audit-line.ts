import type Koa from 'koa';
import { isObject, type Log } from '#contract';
import type { Operations } from '#kernel';
import { addressOf } from './address-of.ts';
import { callerOf } from './caller.ts';

/** Tells who did what, whatever came of it. Never what was sent. @param before the revision that served before it. */
export function logAudit(ctx: Koa.Context, { status: { revision } }: Operations, before: number, log: Log): void {
  const body: unknown = ctx.body;
  const result = isObject(body) ? (body['result'] ?? 'done') : ctx.status < 300 ? 'done' : 'refused';
  const who = `token=${JSON.stringify(callerOf(ctx)?.id ?? null)} ip=${addressOf(ctx) ?? 'unix'}`;
  const what = `${ctx.method} ${ctx.path} status=${ctx.status} result=${result}`;
  log.info(`${who} ${what} revision=${before === revision ? revision : `${before}->${revision}`}`);
}
