import { createOtlpNetworkExportDelegate, ExporterMetrics } from '@opentelemetry/otlp-exporter-base';
import {
  createEmptyMetadata,
  createInsecureCredentials,
  createOtlpGrpcExportDelegate,
  createSslCredentials,
} from '@opentelemetry/otlp-grpc-exporter-base';
import {
  type IExporterMetricsHelper,
  type ISerializer,
  MetricsExporterMetricsHelper,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
  TraceExporterMetricsHelper,
} from '@opentelemetry/otlp-transformer';
import { endingWithChannel } from './closing-credentials.ts';
import { ExportError } from './export-error.ts';
import { httpTransport } from './http-transport.ts';
import { authoritiesOf, type OtlpTarget } from './target.ts';

/** Longest time for one request, in milliseconds: shorter than a shutdown waits for it. */
const REQUEST_MS = 4000;

const shared = { timeoutMillis: REQUEST_MS, concurrencyLimit: 4, compression: 'none' as const };

/** Exporter parts for one kind of telemetry. */
interface Signal<Request, Response> {
  readonly kind: string;
  readonly path: string;
  readonly grpcName: string;
  readonly grpcPath: string;
  readonly serializer: ISerializer<Request, Response>;
  readonly helper: IExporterMetricsHelper<Request>;
}

const traces = {
  kind: 'otlp_span_exporter',
  path: '/v1/traces',
  grpcName: 'TraceExportService',
  grpcPath: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
  serializer: ProtobufTraceSerializer,
  helper: TraceExporterMetricsHelper,
} as const;

const metrics = {
  kind: 'otlp_metric_exporter',
  path: '/v1/metrics',
  grpcName: 'MetricsExportService',
  grpcPath: '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export',
  serializer: ProtobufMetricsSerializer,
  helper: MetricsExporterMetricsHelper,
} as const;

/** Sends one kind of telemetry to a collector, with the official exporter. */
export interface Delegate<Request> {
  /** @throws ExportError */
  send(request: Request): Promise<void>;
  /** Closes its connection once pending requests have completed, within seconds. */
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
  const official = target.useHttp ? overHttp(target, signal) : overGrpc(target, signal);
  return {
    send: (request) =>
      new Promise((resolve, reject) => {
        official.export(request, ({ error }) => (error ? reject(toExportError(error)) : resolve()));
      }),
    close: () => official.shutdown(),
  };
}

function overHttp<Request, Response>(target: OtlpTarget, signal: Signal<Request, Response>) {
  const { kind, path, serializer, helper } = signal;
  const own = new ExporterMetrics<Request>({
    componentType: kind,
    metricsHelper: helper,
    url: undefined,
    meterProvider: undefined,
    responseAttributesFromError: () => ({}),
  });
  return createOtlpNetworkExportDelegate(shared, serializer, own, httpTransport(target, path));
}

function overGrpc<Request, Response>(target: OtlpTarget, signal: Signal<Request, Response>) {
  const { host, port, secure, headers, userAgent } = target;
  const options = {
    ...shared,
    url: host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`,
    userAgent,
    credentials: () =>
      endingWithChannel(
        secure ? createSslCredentials(Buffer.from(authoritiesOf(target).join('\n'))) : createInsecureCredentials(),
      ),
    metadata: () => {
      const metadata = createEmptyMetadata();
      for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
      return metadata;
    },
  };
  const { kind, serializer, helper, grpcName, grpcPath } = signal;
  return createOtlpGrpcExportDelegate(options, serializer, kind, helper, undefined, grpcName, grpcPath);
}

/** gRPC codes after which the protocol allows the same request to be sent again. */
const transientCodes: ReadonlySet<unknown> = new Set([1, 4, 8, 10, 11, 14, 15]);

function toExportError(error: Error & { readonly code?: unknown }): ExportError {
  if (error instanceof ExportError) return error;
  return new ExportError(error.message, transientCodes.has(error.code));
}
