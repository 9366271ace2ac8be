import { createOtlpNetworkExportDelegate, ExporterMetrics } from '@opentelemetry/otlp-exporter-base';
import {
  type IExporterMetricsHelper,
  type ISerializer,
  MetricsExporterMetricsHelper,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
  TraceExporterMetricsHelper,
} from '@opentelemetry/otlp-transformer';
import { ExportError } from './export-error.ts';
import { grpcTransport } from './grpc-transport.ts';
import { httpTransport } from './http-transport.ts';
import type { OtlpTarget } from './target.ts';

/** Longest time for one request, in milliseconds: shorter than a shutdown waits for it. */
const REQUEST_MS = 4000;

const shared = { timeoutMillis: REQUEST_MS, concurrencyLimit: 4, compression: 'none' as const };

/** Exporter parts for one kind of telemetry. */
interface Signal<Request, Response> {
  readonly kind: string;
  readonly path: string;
  readonly grpcPath: string;
  readonly serializer: ISerializer<Request, Response>;
  readonly helper: IExporterMetricsHelper<Request>;
}

const traces = {
  kind: 'otlp_span_exporter',
  path: '/v1/traces',
  grpcPath: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
  serializer: ProtobufTraceSerializer,
  helper: TraceExporterMetricsHelper,
} as const;

const metrics = {
  kind: 'otlp_metric_exporter',
  path: '/v1/metrics',
  grpcPath: '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export',
  serializer: ProtobufMetricsSerializer,
  helper: MetricsExporterMetricsHelper,
} as const;

/** Sends one kind of telemetry to a collector, with the official exporter. */
export interface Delegate<Request> {
  /** @throws ExportError */
  send(request: Request): Promise<void>;
  /** Closes the connection to the collector once pending requests have completed, within seconds. */
  close(): Promise<void>;
}

export type SpanRequest = Parameters<typeof ProtobufTraceSerializer.serializeRequest>[0];
export type MetricRequest = Parameters<typeof ProtobufMetricsSerializer.serializeRequest>[0];

export function traceDelegate(target: OtlpTarget): Delegate<SpanRequest> {
  return delegate(target, traces);
}

export function metricDelegate(target: OtlpTarget): Delegate<MetricRequest> {
  return delegate(target, metrics);
}

function delegate<Request, Response>(target: OtlpTarget, signal: Signal<Request, Response>): Delegate<Request> {
  const { kind, path, grpcPath, serializer, helper } = signal;
  const own = new ExporterMetrics<Request>({
    componentType: kind,
    metricsHelper: helper,
    url: undefined,
    meterProvider: undefined,
    responseAttributesFromError: () => ({}),
  });
  const transport = target.useHttp ? httpTransport(target, path) : grpcTransport(target, grpcPath, REQUEST_MS);
  const official = createOtlpNetworkExportDelegate(shared, serializer, own, transport);
  return {
    send: (request) =>
      new Promise((resolve, reject) => {
        official.export(request, ({ error }) => (error ? reject(toExportError(error)) : resolve()));
      }),
    close: () => official.shutdown(),
  };
}

function toExportError(error: Error): ExportError {
  return error instanceof ExportError ? error : new ExportError(error.message, false);
}
