import type Koa from 'koa';
import { Problem } from './problem.ts';

/** A number in the path. @throws Problem not-found for what is none: nothing has such a name. */
export function pathNumber(ctx: Koa.Context, name: string): number {
  const text = (ctx['params'] as Readonly<Record<string, string>>)[name] ?? '';
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new Problem('not-found', `${text} is not a number`);
}
