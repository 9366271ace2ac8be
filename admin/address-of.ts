import type Koa from 'koa';
import { socketAddress } from '#kernel';

/** The address a request came from, without a zone; null for a socket file. */
export function addressOf(ctx: Koa.Context): string | null {
  const [address = ''] = socketAddress(ctx.req).split('%');
  return address || null;
}
