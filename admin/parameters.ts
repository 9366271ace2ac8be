import type Koa from 'koa';
import { parseDuration } from '#kernel';
import type { Parameter } from './operation.ts';
import { Problem } from './problem.ts';

/** Path parameter with the number of a revision or an attempt. */
export function numberInPath(name: string, description: string): Parameter {
  return { name, in: 'path', description, schema: { type: 'integer', minimum: 1 }, required: true };
}

/** An optional query parameter. */
export function inQuery(name: string, description: string, schema: Parameter['schema']): Parameter {
  return { name, in: 'query', description, schema };
}

export const revealParameter: Parameter = {
  name: 'reveal',
  in: 'query',
  description: 'Shows secrets instead of masking them. Requires a token with the scope "secrets".',
  schema: { type: 'boolean', default: false },
};

/** Request headers of all operations that change the serving configuration. */
export const changeHeaders: readonly Parameter[] = [
  {
    name: 'If-Match',
    in: 'header',
    description: 'ETag of the revision to change. Returns 412 if another revision is active.',
    schema: { type: 'string' },
  },
  {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'Idempotency key: a request repeated with the same key within 10 minutes returns the first result.',
    schema: { type: 'string', maxLength: 255 },
  },
];

/** Parses a number in the path. @throws Problem not-found when it is not a number, since nothing has such a name. */
export function pathNumber(ctx: Koa.Context, name: string): number {
  const text = (ctx['params'] as Readonly<Record<string, string>>)[name] ?? '';
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new Problem('not-found', `${text} is not a number`);
}

/** A query parameter; undefined when absent. @throws Problem bad-request when it is repeated. */
export function queryText(ctx: Koa.Context, name: string): string | undefined {
  const value = ctx.query[name];
  if (Array.isArray(value)) throw new Problem('bad-request', `the query parameter ${name} must not be repeated`);
  return value;
}

/** A boolean flag: false when absent; true when given without a value, as in `?force`. @throws Problem bad-request. */
export function queryFlag(ctx: Koa.Context, name: string): boolean {
  const text = queryText(ctx, name);
  if (text === undefined || text === 'false') return false;
  if (text === 'true' || text === '') return true;
  throw new Problem('bad-request', `the query parameter ${name} must be true or false`);
}

/** One of several words; the first one when absent. @throws Problem bad-request. */
export function queryWord<const Words extends readonly string[]>(
  ctx: Koa.Context,
  name: string,
  words: Words,
): Words[number] {
  const text = queryText(ctx, name) ?? words[0]!;
  if (words.includes(text)) return text;
  throw new Problem('bad-request', `the query parameter ${name} must be one of ${words.join(', ')}`);
}

/** A decimal number; undefined when absent. @throws Problem bad-request. */
export function queryNumber(
  ctx: Koa.Context,
  name: string,
  { least = 0, most = Number.MAX_SAFE_INTEGER, whole = false }: { least?: number; most?: number; whole?: boolean } = {},
): number | undefined {
  const text = queryText(ctx, name);
  if (text === undefined) return undefined;
  const value = (whole ? /^\d+$/ : /^\d+(?:\.\d+)?$/).test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  const range = most === Number.MAX_SAFE_INTEGER ? `at least ${least}` : `${least} to ${most}`;
  throw new Problem('bad-request', `the query parameter ${name} must be a${whole ? ' whole' : ''} number, ${range}`);
}

/** A duration such as `10m`, in milliseconds; undefined when absent. @throws Problem bad-request. */
export function queryDuration(ctx: Koa.Context, name: string): number | undefined {
  const text = queryText(ctx, name);
  if (text === undefined) return undefined;
  try {
    return parseDuration(text);
  } catch {
    throw new Problem('bad-request', `the query parameter ${name} must be a duration such as 10m`);
  }
}
