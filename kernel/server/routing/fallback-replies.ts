import { HeaderBag, Reply, type ServiceConfig } from '#contract';
import type { Destination } from './destinations.ts';

/** Responses for requests that match no endpoint. */
export interface FallbackReplies {
  /** @param search as sent, without `?`. @param prefix value of `X-Forwarded-Prefix`. */
  of(
    destination: Exclude<Destination, { kind: 'route' | 'own' }>,
    method: string,
    search: string,
    prefix: string | undefined,
  ): Reply;
}

/** Compiles the 404 and 405 bodies, redirects and rejections of one configuration. */
export function createFallbackReplies({ router }: ServiceConfig): FallbackReplies {
  const plain = (text: string, custom: object | undefined): { type: string; body: Buffer } =>
    custom
      ? { type: 'application/json; charset=utf-8', body: Buffer.from(JSON.stringify(custom)) }
      : { type: 'text/plain', body: Buffer.from(text) };
  const notFound = plain('404 page not found', router.error_body?.['404']);
  const wrongMethod = plain('405 method not allowed', router.error_body?.['405']);
  return {
    of(destination, method, search, prefix) {
      switch (destination.kind) {
        case 'none':
          return rawReply(404, ['Content-Type', notFound.type], notFound.body);
        case 'method':
          return rawReply(
            405,
            ['Allow', destination.allow.join(', '), 'Content-Type', wrongMethod.type],
            wrongMethod.body,
          );
        case 'refused':
          return rawReply(400, ['Content-Type', 'text/plain'], Buffer.from(destination.text));
        case 'options':
          return Object.assign(rawReply(200, ['Allow', destination.allow.join(', ')], null), { complete: null });
        case 'redirect': {
          const path = (destination.slashOnly ? cleanPrefix(prefix) : '') + destination.path;
          const location = search === '' ? path : `${path}?${search}`;
          return rawReply(method === 'GET' ? 301 : 307, ['Location', location], null);
        }
      }
    },
  };
}

function rawReply(status: number, headers: string[], body: Buffer | null): Reply {
  return Reply.raw(status, new HeaderBag(headers), body);
}

/** Returns a redirect prefix made of path segments only; anything else could redirect the client to another site. */
function cleanPrefix(prefix: string | undefined): string {
  if (!prefix || !/^[\w\-/]*$/.test(prefix)) return '';
  const segments = prefix.split('/').filter((segment) => segment !== '');
  return segments.length === 0 ? '' : `/${segments.join('/')}`;
}
