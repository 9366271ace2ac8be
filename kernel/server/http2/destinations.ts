import type { IncomingMessage } from 'node:http';
import type { ClientRequest } from '#contract';
import type { Http2Routes } from '../../pipeline/compile/http2-routes.ts';
import type { Destination, Wayfinder } from '../routing/destinations.ts';

/** Routes HTTP/2 requests if one content type has endpoints of its own. */
export class Http2Destinations implements Wayfinder {
  readonly #others: Wayfinder;
  readonly #contentType: string;
  readonly #own: ReadonlyMap<string, Destination>;
  readonly #otherwise: Destination;

  constructor(others: Wayfinder, { contentType, routes, otherwise }: Http2Routes) {
    this.#others = others;
    this.#contentType = contentType;
    this.#own = new Map([...routes].map(([path, route]) => [path, { kind: 'route', route, params: {} }]));
    this.#otherwise = {
      kind: 'own',
      route: { path: '/*', description: `Requests with content type ${contentType}.`, handle: otherwise },
    };
  }

  ofMessage(message: IncomingMessage, path: string): Destination {
    return this.#find(message.headers['content-type'], path) ?? this.#others.ofMessage(message, path);
  }

  ofRequest(request: ClientRequest): Destination {
    return this.#find(request.headers.get('content-type'), request.path) ?? this.#others.ofRequest(request);
  }

  #find(type: string | undefined, path: string): Destination | undefined {
    if (type === undefined || !isOfType(type, this.#contentType)) return undefined;
    return this.#own.get(path) ?? this.#otherwise;
  }
}

/**
 * Whether a content type starts with a prefix, ignoring case. @param type as sent by the client. @param start in
 * lowercase.
 */
export function isOfType(type: string, start: string): boolean {
  return type.startsWith(start) || type.slice(0, start.length).toLowerCase() === start;
}
