import type { ServiceConfig } from '#contract';
import type { Answer, Rendering } from '../pipeline/render.ts';
import type { Outcome } from './router.ts';

/** What the gateway answers when no endpoint does. */
export interface FallbackAnswers {
  /** @param search as on the wire, without `?`. @param prefix value of `X-Forwarded-Prefix`. */
  of(outcome: Exclude<Outcome, { kind: 'route' }>, method: string, search: string, prefix: string | undefined): Answer;
}

/** Compiles the bodies of 404 and 405, redirects and refusals of one configuration (routing rules 9 to 11). */
export function createFallbackAnswers(config: ServiceConfig, rendering: Rendering): FallbackAnswers {
  const own = ['X-Gateway', rendering.version, 'X-Gateway-Completed', 'false'];
  const plain = (text: string, custom: object | undefined): { type: string; body: Buffer } =>
    custom
      ? { type: 'application/json; charset=utf-8', body: Buffer.from(JSON.stringify(custom)) }
      : { type: 'text/plain', body: Buffer.from(text) };
  const notFound = plain('404 page not found', config.router.error_body?.['404']);
  const wrongMethod = plain('405 method not allowed', config.router.error_body?.['405']);
  return {
    of(outcome, method, search, prefix) {
      switch (outcome.kind) {
        case 'none':
          return { status: 404, headers: ['Content-Type', notFound.type, ...own], body: notFound.body };
        case 'method':
          return {
            status: 405,
            headers: ['Allow', outcome.allow.join(', '), 'Content-Type', wrongMethod.type, ...own],
            body: wrongMethod.body,
          };
        case 'refused':
          return { status: 400, headers: ['Content-Type', 'text/plain', ...own], body: outcome.text };
        case 'redirect': {
          const path = (outcome.slashOnly ? cleanPrefix(prefix) : '') + outcome.path;
          const location = search === '' ? path : `${path}?${search}`;
          return { status: method === 'GET' ? 301 : 307, headers: ['Location', location, ...own], body: null };
        }
      }
    },
  };
}

/** Only what can be nothing but a path is put before one: anything else could send the client elsewhere. */
function cleanPrefix(prefix: string | undefined): string {
  if (!prefix || !/^[\w\-/]*$/.test(prefix)) return '';
  const segments = prefix.split('/').filter((segment) => segment !== '');
  return segments.length === 0 ? '' : `/${segments.join('/')}`;
}
