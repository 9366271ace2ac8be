import type Koa from 'koa';
import type { AdminSettings } from '#contract';

const METHODS = 'GET, HEAD, PUT, POST, PATCH, DELETE, OPTIONS';
const HEADERS =
  'Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, Prefer, X-Request-Id, Last-Event-ID';
const EXPOSED = 'ETag, Gateway-Revision, Location, Retry-After, X-Request-Id, WWW-Authenticate, Accept-Patch';

/** Lets allowed pages read responses. Other pages were already rejected. */
export function cors(settings: () => AdminSettings): Koa.Middleware {
  return (ctx, next) => {
    const origin = ctx.get('origin');
    if (!settings().allowed_origins.includes(origin)) return next();
    ctx.vary('Origin');
    ctx.set({ 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED });
    if (ctx.method === 'OPTIONS') {
      ctx.set({
        'Access-Control-Allow-Methods': METHODS,
        'Access-Control-Allow-Headers': HEADERS,
        'Access-Control-Max-Age': '600',
      });
    }
    return next();
  };
}
