import {
  type AccessRecord,
  type AtBackend,
  type AtEndpoint,
  type BackendConfig,
  type Call,
  defineSlot,
  type EndpointConfig,
  type HeaderBag,
  type PipeRequest,
  type Slot,
  traceSlot,
} from '#contract';
import type { Propagation } from '../lib/tracing/propagator.ts';
import type { SpanExporter } from '../lib/tracing/trace.ts';
import { nothingCarried, type Sampler, Trace } from '../lib/tracing/trace.ts';
import { reportClient } from './client.ts';
import { ClientMetrics } from './client-metrics.ts';
import type { Instruments } from './instruments.ts';
import { PREFIX } from './instruments.ts';
import type { BackendLayer, Layer } from './layers.ts';
import { routeName } from './patterns.ts';
import { recordServerSpan, ServerMetrics } from './server.ts';
import { reportStage, StageMetrics, spanSlot } from './stage.ts';

/** Destination of spans. */
export interface TraceDestination {
  readonly exporters: readonly SpanExporter[];
  readonly sampler: Sampler;
  /** Whether requests can be recorded. False if the trace is only propagated to backends. */
  readonly records: boolean;
}

/** Destinations of metrics and spans, and what they record. */
export interface Destination {
  /** Instruments for metrics; null if no exporter takes metrics. */
  readonly instruments: Instruments | null;
  /** Destination of spans; null if no exporter takes spans. */
  readonly traces: TraceDestination | null;
}

/** Reported layers of an endpoint. */
export interface Layers {
  readonly global: Layer;
  readonly proxy: Layer;
  readonly backend: BackendLayer;
  /** Formats in which requests' trace context is read; null to ignore it. */
  readonly carried: Propagation | null;
}

/** Slot with the trace of a request, the same as `traceSlot`, so that loggers of trace IDs also find the trace. */
export const requestTrace: Slot<Trace> = { name: traceSlot.name };

/** Headers of the response to a client, if they are reported. */
export const responseHeaders = defineSlot<HeaderBag>('OpenTelemetry response headers');

/** Reports the requests of one endpoint. */
export class EndpointTelemetry {
  readonly layers: Layers;
  readonly #route: string;
  readonly #method: string;
  readonly #destination: Destination;
  readonly #server: ServerMetrics | null;

  constructor({ endpoint, method }: EndpointConfig, destination: Destination, layers: Layers) {
    this.layers = layers;
    this.#route = routeName(endpoint);
    this.#method = method;
    this.#destination = destination;
    const { metrics } = layers.global;
    const { instruments } = destination;
    this.#server = metrics && instruments && new ServerMetrics(instruments, metrics, this.#route);
  }

  /** Reports a finished request. */
  finished(request: AccessRecord): void {
    this.#server?.record(request);
    const { traces } = this.layers.global;
    const { call } = request;
    if (!traces || !call || !this.#destination.traces) return;
    const trace = this.#traceOf(request.requestHeaders, call, true);
    if (trace?.sampled) recordServerSpan(trace, traces, this.#route, request, call.get(responseHeaders));
  }

  /** Hooks that report the pipe of the endpoint. */
  get attachment(): AtEndpoint {
    const { metrics, traces } = this.layers.proxy;
    const { instruments } = this.#destination;
    const recorded = this.#destination.traces?.records === true;
    const measured =
      metrics &&
      instruments &&
      new StageMetrics(instruments.proxyDuration, {
        ...metrics,
        'http.request.method': this.#method,
        'http.route': this.#route,
      });
    if (!measured && !recorded) return {};
    const trace = this.#traceOfPipe;
    return {
      proxy: reportStage({
        name: 'proxy',
        route: this.#route,
        metrics: measured,
        traces: recorded ? traces : null,
        trace,
        parent: (trace, call) => call.get(spanSlot)?.spanId ?? trace.parentId,
      }),
    };
  }

  /** Hooks that report the pipe and the requests of a backend. */
  attachmentOf(backend: BackendConfig, layer: BackendLayer, propagation: Propagation): AtBackend {
    const { instruments, traces: traced } = this.#destination;
    const recorded = traced?.records === true;
    const { metrics, traces } = layer;
    const route = routeName(backend.url_pattern);
    const attributes = {
      ...metrics.attributes,
      'http.request.method': backend.method,
      'http.route': route,
      [`${PREFIX}.endpoint.route`]: this.#route,
      [`${PREFIX}.endpoint.method`]: this.#method,
    };
    const trace = this.#traceOfPipe;
    const stageMetrics =
      metrics.stage && instruments ? new StageMetrics(instruments.backendDuration, attributes) : null;
    const stageTraces = traces.stage && recorded ? traces : null;
    const isMeasured = instruments !== null && (metrics.roundTrip || metrics.readPayload);
    const clientMetrics = isMeasured
      ? new ClientMetrics(instruments.client, { ...attributes, clientname: route }, metrics.detailed)
      : null;
    const clientTraces = recorded && (traces.roundTrip || traces.readPayload) ? traces : null;
    return {
      ...((stageMetrics || stageTraces) && {
        backend: reportStage({
          name: 'backend',
          route,
          metrics: stageMetrics,
          traces: stageTraces,
          trace,
          parent: (own, call) => call.get(spanSlot)?.spanId ?? own.parentId,
        }),
      }),
      ...((clientMetrics || traced) && {
        transport: reportClient({
          metrics: clientMetrics,
          traces: clientTraces,
          route,
          propagation: traced && propagation,
          trace,
        }),
      }),
      ...(traced && { sets: propagation.headers }),
    };
  }

  readonly #traceOfPipe = ({ client }: PipeRequest, call: Call): Trace | null =>
    call.get(requestTrace) ?? this.#traceOf(client.headers, call, call.host !== null);

  /**
   * Returns the trace of a request, started at first use.
   * @param isClients true for the request of a client, whose span ends with the response.
   */
  #traceOf(headers: HeaderBag, call: Call, isClients: boolean): Trace | null {
    const known = call.get(requestTrace);
    const { traces } = this.#destination;
    if (known || !traces) return known ?? null;
    const { carried, global } = this.layers;
    const hasServerSpan = isClients && global.traces !== null;
    const trace = new Trace(
      traces.sampler,
      traces.exporters,
      carried?.extract(headers) ?? nothingCarried,
      hasServerSpan,
    );
    call.set(requestTrace, trace);
    return trace;
  }
}
