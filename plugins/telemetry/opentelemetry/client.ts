import {
  ByteStream,
  type ByteTap,
  type Call,
  CancelledError,
  type ConnectionObserver,
  defineSlot,
  maskTarget,
  type PipeRequest,
  type Reply,
  type Wrap,
} from '#contract';
import type { Propagation } from '../lib/tracing/propagator.ts';
import type { Trace } from '../lib/tracing/trace.ts';
import { Span, type SpanAttribute } from '../lib/tracing/trace.ts';
import type { ClientFailure, ClientMetrics, ClientSeries } from './client-metrics.ts';
import { STAGE } from './instruments.ts';
import type { ClientSwitches, TraceLayer } from './layers.ts';
import { spanSlot } from './stage.ts';

/** A backend request that is reported with connection details. */
interface ClientCall {
  readonly series: ClientSeries | null;
  readonly span: Span | null;
}

const clientSlot = defineSlot<ClientCall>('reported request');

/** Settings for reporting the requests to a backend. */
export interface ClientReport {
  /** Metrics of requests; null if nothing is measured. */
  readonly metrics: ClientMetrics | null;
  /** Settings for spans; null if no spans are recorded. */
  readonly traces: (ClientSwitches & TraceLayer) | null;
  /** Pattern of the backend. */
  readonly route: string;
  /** Propagation of the trace; null if the trace is not propagated to backends. */
  readonly propagation: Propagation | null;
  /** Returns the trace of a request; null without one. */
  trace(request: PipeRequest, call: Call): Trace | null;
}

/** Measures the requests to a backend, records their spans and propagates the trace. */
export function reportClient(report: ClientReport): Wrap<PipeRequest> {
  const { metrics, traces, propagation } = report;
  const isDetailed = Boolean(metrics?.isDetailed || (traces?.roundTrip && traces.detailed));
  return (next) => (request, call) => {
    const trace = report.trace(request, call);
    const recorded = traces && trace?.sampled ? trace : null;
    if (!metrics && !recorded) {
      if (trace) propagation?.inject(request.headers, trace, nearest(trace, call));
      return next(request, call);
    }
    const startedAt = performance.now();
    const series = metrics?.of(request.origin) ?? null;
    const sentBytes = request.body?.length;
    series?.started();
    const span = recorded && traces?.roundTrip ? openSpan(report, traces, recorded, startedAt, request, call) : null;
    const spanId = span?.spanId ?? (trace && propagation ? nearest(trace, call) : '');
    if (trace) propagation?.inject(request.headers, trace, spanId);
    const finish = (reply: Reply): Reply => {
      const endedAt = performance.now();
      const failure = failureOf(reply, call);
      series?.answered(endedAt - startedAt, reply, failure, sentBytes);
      if (span) closeSpan(span, traces!, reply, failure, endedAt);
      if (reply.body instanceof ByteStream && (series || (recorded && traces!.readPayload))) {
        const read = recorded && traces!.readPayload ? openRead(recorded, report.route, endedAt, spanId) : null;
        reply.body.tap(new BodyRead(series, read, endedAt));
      }
      return reply;
    };
    const reply = next(request, isDetailed && (series || span) ? call.with(clientSlot, { series, span }) : call);
    return reply instanceof Promise ? reply.then(finish) : finish(reply);
  };
}

/** Returns the id of the span to propagate when the backend request has none of its own. */
function nearest(trace: Trace, call: Call): string {
  return (trace.sampled ? call.get(spanSlot)?.spanId : undefined) ?? trace.parentId ?? trace.spanId;
}

/** Reports how requests obtain their connections. */
export const connectionReport: ConnectionObserver = {
  connected({ waitMs, opened }, _request, call) {
    const client = call.get(clientSlot);
    if (!client) return;
    client.series?.connected(waitMs, opened);
    if (!client.span) return;
    const { attributes } = client.span;
    attributes['get-conn-duration'] = waitMs / 1000;
    if (!opened) return;
    attributes['dns-duration'] = opened.dnsMs / 1000;
    attributes['tls-duration'] = opened.tlsMs / 1000;
  },
  responded(_ms, _request, call) {
    const span = call.get(clientSlot)?.span;
    if (!span) return;
    span.events ??= [];
    // The number of events is limited, because a request that follows many redirects has one event for each.
    if (span.events.length < 16) span.events.push({ name: 'first-byte-time', at: performance.now() });
  },
};

function failureOf(reply: Reply, call: Call): ClientFailure {
  const [error] = reply.errors;
  if (!error) return null;
  if (error instanceof CancelledError || call.reason instanceof CancelledError) return 'canceled';
  const isLate = error.code === 'CALL_DEADLINE' || error.code.endsWith('_TIMEOUT');
  return isLate ? 'timedout' : 'failed';
}

function openSpan(
  { route }: ClientReport,
  traces: TraceLayer,
  trace: Trace,
  startedAt: number,
  request: PipeRequest,
  call: Call,
): Span {
  const { origin, target, method, body } = request;
  const attributes: Record<string, SpanAttribute> = {
    ...traces.attributes,
    [STAGE]: 'backend-request',
    'http.request.method': method,
    'http.route': route,
    'url.full': urlOf(origin, target),
  };
  if (body?.length !== undefined) attributes['http.request.body.size'] = body.length;
  traces.headers?.(request.headers, 'request', attributes);
  const parent = call.get(spanSlot)?.spanId ?? trace.parentId;
  return new Span(trace, 'client', route, startedAt, parent, attributes);
}

/** Maximum length of an address on a span, in characters. */
const MAX_URL = 2048;

/** Formats the address without user name, password and credentials in the query. */
function urlOf(origin: string, target: string): string {
  const url = origin.replace(/\/\/[^/@]*@/, '//') + maskTarget(target);
  return url.length > MAX_URL ? Buffer.from(url.slice(0, MAX_URL)).toString() : url;
}

function closeSpan(span: Span, traces: TraceLayer, reply: Reply, failure: ClientFailure, endedAt: number): void {
  const { attributes } = span;
  attributes['response-duration'] = (endedAt - span.startedAt) / 1000;
  attributes['http.response.status_code'] = reply.upstreamStatus ?? 0;
  if (failure) {
    span.status = 'error';
    span.statusText = (reply.errors[0]?.message ?? '').slice(0, 256);
    attributes[failure] = true;
  } else {
    span.status = 'ok';
    traces.headers?.(reply.headers, 'response', attributes);
  }
  span.end(endedAt);
}

function openRead(trace: Trace, route: string, startedAt: number, parent: string): Span {
  return new Span(trace, 'internal', 'http.client.response.read.tracker', startedAt, parent, { 'http.route': route });
}

/** Observes how the body of a response is read. */
class BodyRead implements ByteTap {
  readonly #series: ClientSeries | null;
  readonly #span: Span | null;
  readonly #startedAt: number;
  #bytes = 0;

  constructor(series: ClientSeries | null, span: Span | null, startedAt: number) {
    this.#series = series;
    this.#span = span;
    this.#startedAt = startedAt;
  }

  write(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
  }

  end(): void {
    this.#finish(false);
  }

  fail(): void {
    this.#finish(true);
  }

  cancel(): void {
    this.#finish(false);
  }

  #finish(isFailed: boolean): void {
    const endedAt = performance.now();
    this.#series?.read(this.#bytes, endedAt - this.#startedAt, isFailed);
    const span = this.#span;
    if (!span) return;
    span.attributes['http.client.response.read.size'] = this.#bytes;
    span.attributes['http.client.response.read.time'] = (endedAt - this.#startedAt) / 1000;
    if (isFailed) span.status = 'error';
    span.end(endedAt);
  }
}
