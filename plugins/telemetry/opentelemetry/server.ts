import { STATUS_CODES } from 'node:http';
import type { AccessRecord, HeaderBag, MeterAttributes } from '#contract';
import type { Distribution } from '../lib/metrics/series.ts';
import type { Trace } from '../lib/tracing/trace.ts';
import { Span, type SpanAttribute } from '../lib/tracing/trace.ts';
import { shortened } from './header-report.ts';
import { type Instruments, STAGE } from './instruments.ts';
import type { TraceLayer } from './layers.ts';

/** Known methods; any other counts as `_OTHER`. */
const methods = ['_OTHER', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH', 'QUERY'];
const methodNumbers = new Map(methods.map((method, at) => [method, at]));

/** Status recorded for upgraded connections. */
const UPGRADED = 100;
/** Number of combinations of status, method and scheme whose series are cached. */
const MAX_KNOWN = 256;
/** Maximum length of an address or a user agent on a span, in characters. */
const MAX_TEXT = 2048;

interface ServerSeries {
  readonly duration: Distribution;
  readonly size: Distribution;
}

/** Measures the client requests of one endpoint, or those that match no endpoint. */
export class ServerMetrics {
  readonly #instruments: Instruments;
  readonly #attributes: MeterAttributes;
  readonly #route: string | null;
  readonly #known = new Map<number, ServerSeries>();

  /** @param route null for requests that match no endpoint. */
  constructor(instruments: Instruments, attributes: MeterAttributes, route: string | null) {
    this.#instruments = instruments;
    this.#attributes = attributes;
    this.#route = route;
  }

  record(request: AccessRecord): void {
    const { status, method, secure } = request;
    const key = (status * 16 + (methodNumbers.get(method) ?? 0)) * 2 + (secure ? 1 : 0);
    const series = this.#known.get(key) ?? this.#find(key, status, method, secure);
    series.duration.add(request.latencyMs / 1000);
    if (request.bytesOut !== undefined) series.size.add(request.bytesOut);
  }

  #find(key: number, status: number, method: string, secure: boolean): ServerSeries {
    const attributes = Object.freeze({
      ...this.#attributes,
      'http.request.method': methodName(method),
      'url.scheme': secure ? 'https' : 'http',
      'http.route': this.#route ?? routeOf(status),
      'http.response.status_code': status,
    });
    const { serverDuration, serverSize } = this.#instruments;
    const series = { duration: serverDuration.at(attributes), size: serverSize.at(attributes) };
    if (this.#known.size < MAX_KNOWN) this.#known.set(key, series);
    return series;
  }
}

function methodName(method: string): string {
  return methodNumbers.has(method) ? method : '_OTHER';
}

/** Returns the substitute for the route of requests that match no endpoint. */
function routeOf(status: number): string {
  if (status === UPGRADED) return 'Upgraded Connection';
  return `${status} ${STATUS_CODES[status] ?? ''}`.trimEnd();
}

/** Records the span of a finished request. @param headers of the response, if they are reported. */
export function recordServerSpan(
  trace: Trace,
  layer: TraceLayer,
  route: string,
  request: AccessRecord,
  headers: HeaderBag | undefined,
): void {
  const { method, path, search, host, secure, status, requestHeaders, latencyMs, bytesOut } = request;
  const endedAt = performance.now();
  const url = `${secure ? 'https' : 'http'}://${host}${path}${search === '' ? '' : `?${search}`}`;
  const attributes: Record<string, SpanAttribute> = {
    ...layer.attributes,
    [STAGE]: 'global',
    'url.full': shortened(url, MAX_TEXT),
    'server.address': shortened(hostName(host), MAX_TEXT),
    'http.request.method': methodName(method),
    'client.address': request.ip,
    'http.route': route,
    'http.response.status_code': status,
  };
  if (request.requestId !== undefined) attributes['request.id'] = request.requestId;
  const length = requestHeaders.get('content-length');
  if (length !== undefined && /^\d{1,15}$/.test(length)) attributes['http.request.body.size'] = Number(length);
  const agent = requestHeaders.get('user-agent');
  if (agent !== undefined) attributes['user_agent.original'] = shortened(agent, MAX_TEXT);
  if (bytesOut !== undefined) attributes['http.response.body.size'] = bytesOut;
  layer.headers?.(requestHeaders, 'request', attributes);
  if (headers) layer.headers?.(headers, 'response', attributes);
  const name = `${methodName(method)} ${route}`;
  const span = new Span(trace, 'server', name, endedAt - latencyMs, trace.remote?.spanId, attributes, trace.spanId);
  const isCut = status === 499 || !request.completed;
  span.status = isCut ? 'error' : 'ok';
  if (isCut) span.statusText = 'the response was not written completely';
  span.end(endedAt);
}

/** Returns a host without its port. */
function hostName(host: string): string {
  return host.replace(/:\d+$/, '');
}
