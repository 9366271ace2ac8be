import type { AtService, ClientRequest, Step } from '#contract';
import { type Attached, onlyClaim } from '../attach/attach.ts';
import type { EndpointContext } from '../attach/attachments.ts';
import { compileEndpoint } from './endpoint.ts';
import type { Route } from './route.ts';

/** Routes for HTTP/2 requests of one content type. */
export interface Http2Routes {
  /** Prefix of the content types, in lowercase. */
  readonly contentType: string;
  /** Routes by path. */
  readonly routes: ReadonlyMap<string, Route>;
  /** Pointers of the endpoints in the configuration, by path. */
  readonly pointers: ReadonlyMap<string, string>;
  readonly otherwise: Step<ClientRequest>;
}

/** Compiles the endpoints that a service-level component publishes over HTTP/2; null for none. */
export function compileHttp2(context: EndpointContext): Http2Routes | null {
  const { build, service } = context;
  const publishing: readonly Attached<AtService>[] = service.filter(({ at }) => at.http2);
  const http2 = onlyClaim(build, publishing, 'http2', 'publish endpoints over HTTP/2');
  if (!http2) return null;
  const routes = new Map<string, Route>();
  const pointers = new Map<string, string>();
  for (const { at, endpoint, ...shell } of http2.endpoints) {
    const pointer = publishing[0]!.pointer + at;
    const route = compileEndpoint(context, endpoint, pointer, shell);
    if (!route) continue;
    routes.set(endpoint.endpoint, route);
    pointers.set(endpoint.endpoint, pointer);
  }
  return { contentType: http2.contentType, routes, pointers, otherwise: http2.otherwise };
}
