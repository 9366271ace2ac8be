import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttp2, createSecureServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import { createServer as createHttps } from 'node:https';
import { createRequire } from 'node:module';
import type { AddressInfo, Server } from 'node:net';

interface Decoder {
  decode(bytes: Uint8Array): unknown;
  toObject(message: unknown, options: object): Readonly<Record<string, RawResource[]>>;
}

/** The protocol definitions, as published by its authors for JavaScript. */
const { collector } = createRequire(import.meta.url)('otlp-definitions/build/src/generated/root').opentelemetry.proto;
const traceRequest: Decoder = collector.trace.v1.ExportTraceServiceRequest;
const metricsRequest: Decoder = collector.metrics.v1.ExportMetricsServiceRequest;

/** A span as a collector receives it. */
export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly kind: string;
  readonly flags: number;
  /** Start time, in nanoseconds since 1970. */
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly { readonly name: string; readonly timeUnixNano: string }[];
  readonly status: { readonly code?: string; readonly message?: string };
  readonly resource: Readonly<Record<string, unknown>>;
  readonly scope: { readonly name: string };
}

/** One point of a metric. */
export interface ReceivedPoint {
  readonly metric: string;
  readonly unit: string;
  readonly type: 'sum' | 'gauge' | 'histogram';
  readonly monotonic: boolean;
  readonly temporality: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Value of the point; the count of a histogram. */
  readonly value: number;
  readonly sum: number;
  readonly buckets: readonly number[];
  readonly bounds: readonly number[];
  readonly resource: Readonly<Record<string, unknown>>;
}

export interface Receiver {
  readonly port: number;
  readonly spans: readonly ReceivedSpan[];
  /** Points of the pushes so far, oldest first. */
  readonly points: readonly ReceivedPoint[];
  readonly requests: readonly { readonly path: string; readonly headers: IncomingMessage['headers'] }[];
  /** The last value of a metric whose attributes include these. */
  last(metric: string, attributes?: Readonly<Record<string, unknown>>): ReceivedPoint | undefined;
  close(): Promise<void>;
}

export interface ReceiverOptions {
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Makes the collector respond with a status, or not respond at all. */
  readonly fail?: () => number | 'never' | undefined;
  /** Port to listen on. Default: any free port. */
  readonly port?: number;
}

function plain(list: RawAttributes = []): Record<string, unknown> {
  return Object.fromEntries(list.map(({ key, value }) => [key, anyValue(value)]));
}

function anyValue(value: Record<string, unknown>): unknown {
  if ('arrayValue' in value) return (value['arrayValue'] as { values: Record<string, unknown>[] }).values.map(anyValue);
  if ('intValue' in value) return Number(value['intValue']);
  return Object.values(value)[0];
}

const hex = (base64 = '') => Buffer.from(base64, 'base64').toString('hex');

type RawAttributes = { readonly key: string; readonly value: Record<string, unknown> }[];

interface RawData {
  readonly dataPoints: {
    readonly attributes: RawAttributes;
    readonly count?: string;
    readonly asDouble?: number;
    readonly asInt?: string;
    readonly sum?: number;
    readonly bucketCounts?: string[];
    readonly explicitBounds?: number[];
  }[];
  readonly isMonotonic?: boolean;
  readonly aggregationTemporality: string;
}

/** Members of messages that tests check. */
interface RawResource {
  readonly resource: { readonly attributes: RawAttributes };
  readonly scopeSpans?: {
    readonly scope: { readonly name: string };
    readonly spans: {
      readonly name: string;
      readonly kind: string;
      readonly flags: number;
      readonly traceId: string;
      readonly spanId: string;
      readonly parentSpanId?: string;
      readonly traceState?: string;
      readonly startTimeUnixNano: string;
      readonly endTimeUnixNano: string;
      readonly attributes: RawAttributes;
      readonly events?: ReceivedSpan['events'];
      readonly status?: ReceivedSpan['status'];
    }[];
  }[];
  readonly scopeMetrics?: {
    readonly metrics: (Partial<Record<'sum' | 'gauge' | 'histogram', RawData>> & {
      readonly name: string;
      readonly unit?: string;
    })[];
  }[];
}

class Received {
  readonly spans: ReceivedSpan[] = [];
  readonly points: ReceivedPoint[] = [];
  readonly requests: { path: string; headers: IncomingMessage['headers'] }[] = [];

  take(path: string, headers: IncomingMessage['headers'], body: Buffer): void {
    this.requests.push({ path, headers });
    const isTraces = path.includes('race');
    const decoder = isTraces ? traceRequest : metricsRequest;
    const message = decoder.toObject(decoder.decode(body), { longs: String, enums: String, bytes: String });
    if (isTraces) for (const each of message['resourceSpans'] ?? []) this.#takeSpans(each);
    else for (const each of message['resourceMetrics'] ?? []) this.#takePoints(each);
  }

  #takeSpans({ resource, scopeSpans = [] }: RawResource): void {
    for (const { scope, spans } of scopeSpans) {
      for (const span of spans) {
        this.spans.push({
          ...span,
          traceId: hex(span.traceId),
          spanId: hex(span.spanId),
          parentSpanId: hex(span.parentSpanId),
          traceState: span.traceState ?? '',
          start: BigInt(span.startTimeUnixNano),
          end: BigInt(span.endTimeUnixNano),
          attributes: plain(span.attributes),
          events: span.events ?? [],
          status: span.status ?? {},
          resource: plain(resource.attributes),
          scope,
        });
      }
    }
  }

  #takePoints({ resource, scopeMetrics = [] }: RawResource): void {
    for (const { metrics } of scopeMetrics) {
      for (const { name, unit, ...data } of metrics) {
        const type = (['sum', 'gauge', 'histogram'] as const).find((each) => data[each])!;
        const { dataPoints, isMonotonic, aggregationTemporality } = data[type]!;
        for (const point of dataPoints) {
          this.points.push({
            metric: name,
            unit: unit ?? '',
            type,
            monotonic: isMonotonic ?? false,
            temporality: aggregationTemporality,
            attributes: plain(point.attributes),
            value: Number(point.count ?? point.asDouble ?? point.asInt),
            sum: point.sum ?? 0,
            buckets: (point.bucketCounts ?? []).map(Number),
            bounds: point.explicitBounds ?? [],
            resource: plain(resource.attributes),
          });
        }
      }
    }
  }

  last(metric: string, attributes: Readonly<Record<string, unknown>> = {}): ReceivedPoint | undefined {
    const asked = Object.entries(attributes);
    return this.points.findLast(
      (point) => point.metric === metric && asked.every(([key, value]) => point.attributes[key] === value),
    );
  }
}

async function listen(
  received: Received,
  server: Server | Http2Server,
  port: number,
  end: () => void,
): Promise<Receiver> {
  await new Promise<void>((resolve) => {
    (server as Server).listen(port, '127.0.0.1', () => resolve());
  });
  return Object.assign(received, {
    port: ((server as Server).address() as AddressInfo).port,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        end();
      }),
  });
}

/** A collector that receives OTLP over HTTP. */
export async function startHttpReceiver({ tls, fail, port = 0 }: ReceiverOptions = {}): Promise<Receiver> {
  const received = new Received();
  const answer = async (message: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk as Buffer);
    const outcome = fail?.();
    if (outcome === 'never') return;
    if (outcome === undefined) received.take(message.url!, message.headers, Buffer.concat(chunks));
    response.writeHead(outcome ?? 200, { 'Content-Type': 'application/x-protobuf' }).end();
  };
  const server = tls ? createHttps(tls, answer) : createServer(answer);
  return listen(received, server, port, () => server.closeAllConnections());
}

/** A collector that receives OTLP over gRPC. */
export async function startGrpcReceiver({ tls, fail, port = 0 }: ReceiverOptions = {}): Promise<Receiver> {
  const received = new Received();
  const server = tls ? createSecureServer(tls) : createHttp2();
  const sessions = new Set<{ destroy(): void }>();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => {});
    session.once('close', () => sessions.delete(session));
  });
  server.on('stream', async (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => {});
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    const status = fail?.();
    if (status === 'never') return;
    // Skips the flag and the length before the message.
    if (status === undefined) received.take(headers[':path']!, headers, Buffer.concat(chunks).subarray(5));
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': String(status ?? 0) }));
    stream.end(Buffer.alloc(5));
  });
  return listen(received, server as never, port, () => {
    for (const session of sessions) session.destroy();
  });
}
