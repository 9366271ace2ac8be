import type Koa from 'koa';
import type { Data } from '#contract';
import { maskSecrets, type Operations } from '#kernel';
import { demandScope } from './caller.ts';
import { queryFlag } from './query.ts';

/** Tells whether secrets are to be shown. @throws Problem insufficient-scope when they are asked for without leave. */
export function isRevealing(ctx: Koa.Context): boolean {
  const isAsked = queryFlag(ctx, 'reveal');
  if (isAsked) demandScope(ctx, 'secrets');
  return isAsked;
}

/** A configuration, or what stands at a pointer in it, as a request may see it: secrets are `***` unless revealed. */
export function shown(
  ctx: Koa.Context,
  { components }: Pick<Operations, 'components'>,
  data: Data,
  pointer = '',
): Data {
  return isRevealing(ctx) ? data : maskSecrets(data, pointer, components.isSecret);
}
