import {
  ByteStream,
  type ClientRequest,
  type Encoding,
  type HeaderBag,
  hasKeys,
  type ProductNames,
  printJson,
  productNames,
  type Reply,
  type RouterOptions,
  type Upgrade,
} from '#contract';
import type { Route } from '../compile/route.ts';

/** A response, ready to be written. */
export interface RenderedReply {
  readonly status: number;
  /** Headers as a flat list of alternating names and values. */
  readonly headers: string[];
  readonly body: string | Uint8Array | ByteStream | null;
  /** Whether the body is the backend's own, or a stream: it is sent unchanged and never compressed. */
  readonly raw?: true;
  /** Trailers of the response. A function is called once the body has been written. */
  readonly trailers?: HeaderBag | (() => HeaderBag);
  /** Status for logs and metrics of a protocol that reports its outcome after the body; 0 for none. */
  readonly outcome?: number;
  /** Set when the connection switches to another protocol. */
  readonly upgrade?: Upgrade;
  /** Whether the body is written as a stream, without a length, even if it is complete. */
  readonly streams?: true;
}

/** Settings for all responses of one configuration. */
export interface Rendering {
  readonly names: ProductNames;
  /** Whether error messages are sent to the client as bodies. */
  readonly errorMessages: boolean;
}

export function createRendering(router: RouterOptions, version: string): Rendering {
  return {
    names: productNames(router, version),
    errorMessages: router.return_error_msg,
  };
}

/** Renders the reply of an endpoint as a response. */
export function render(reply: Reply, route: Route, request: ClientRequest, rendering: Rendering): RenderedReply {
  const bare = reply.data === null && reply.body === null;
  if (bare && reply.errors.length > 0) return renderError(reply, rendering);
  const { output } = route;
  if (output.raw) return renderRaw(reply, output, rendering);
  // A rejection has no body, regardless of the output encoding. A reply without data is rendered as empty data.
  if (bare && (reply.status >= 300 || reply.complete === null)) return renderError(reply, rendering);
  const headers = reply.headers.list;
  if (reply.body !== null && reply.data === null) {
    addOwn(headers, reply.complete, rendering);
    addCaching(headers, reply, route);
    return { status: reply.status, headers, body: reply.body };
  }
  const complete = reply.complete === true && reply.data !== null && (hasKeys(reply.data) || reply.skipped);
  const { body, contentType } = output.encode!(reply.data, request.headers.get('accept'));
  if (!reply.headers.has('content-type')) headers.push('Content-Type', contentType);
  addOwn(headers, reply.complete === null ? null : complete, rendering);
  if (complete) addCaching(headers, reply, route);
  return { status: reply.status, headers, body };
}

function renderRaw(reply: Reply, output: Encoding, rendering: Rendering): RenderedReply {
  const { headers } = reply;
  const streams = output.streams === true && reply.status === 200 && reply.body instanceof ByteStream;
  if (streams) headers.delete('content-length');
  const { names } = rendering;
  headers.delete(names.header.toLowerCase());
  headers.delete(names.completed.toLowerCase());
  addOwn(headers.list, reply.complete === null ? null : false, rendering);
  const rendered: RenderedReply = { status: reply.status, headers: headers.list, body: reply.body, raw: true };
  return streams ? { ...rendered, streams } : rendered;
}

/** Renders a reply that did not come from an endpoint. */
export function renderPlain(reply: Reply, rendering: Rendering): RenderedReply {
  if (reply.data === null && reply.body === null && reply.errors.length > 0) return renderError(reply, rendering);
  const headers = reply.headers.list;
  let { body }: { body: RenderedReply['body'] } = reply;
  if (reply.data !== null) {
    body = printJson(reply.data);
    if (!reply.headers.has('content-type')) headers.push('Content-Type', 'application/json; charset=utf-8');
  }
  addOwn(headers, reply.complete, rendering);
  return { status: reply.status, headers, body };
}

/** Renders a failure or rejection: its text if error messages are returned, otherwise no body. */
export function renderError(reply: Reply, rendering: Rendering): RenderedReply {
  const headers = reply.headers.list;
  const { errors } = reply;
  const view = errors.length === 1 ? errors[0]!.view : {};
  let body: string | Uint8Array | null = null;
  if (rendering.errorMessages || (view.always && view.body !== undefined)) {
    const text = view.body ?? errors.map((error) => error.message).join('\n');
    if (text.length > 0) {
      body = text;
      headers.push('Content-Type', view.contentType ?? 'text/plain; charset=utf-8');
    }
  }
  addOwn(headers, reply.complete === null ? null : false, rendering);
  return { status: reply.status, headers, body };
}

function addOwn(headers: string[], complete: boolean | null, { names }: Rendering): void {
  headers.push(names.header, names.version);
  if (complete !== null) headers.push(names.completed, complete ? 'true' : 'false');
}

function addCaching(headers: string[], reply: Reply, route: Route): void {
  const { cache_ttl: ttlMs } = route.endpoint;
  if (ttlMs === 0 || !reply.complete || reply.headers.has('cache-control')) return;
  headers.push('Cache-Control', `public, max-age=${Math.floor(ttlMs / 1000)}`);
}
