import type { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { Span, SpanKind } from '../tracing/trace.ts';
import { highResolution, type Resource, type Scope, sdkResource } from './resource.ts';

type SdkSpan = Parameters<typeof ProtobufTraceSerializer.serializeRequest>[0][number];

/** Enum values of the official API: span kinds and status codes. */
const kinds: Readonly<Record<SpanKind, number>> = { internal: 0, server: 1, client: 2 };
const codes = { ok: 1, error: 2 } as const;

const none: readonly never[] = [];
const noStatus = { code: 0 };

/** Creates a function that converts spans to the input of the official serializer. */
export function sdkSpans(attributes: Resource, scope: Scope): (spans: readonly Span[]) => SdkSpan[] {
  const resource = sdkResource(attributes);
  return (spans) => spans.map((span) => new SentSpan(span, resource, scope) as unknown as SdkSpan);
}

/** A span as the official serializer reads it. Created for every span that is sent: the serializer reads its fields directly. */
class SentSpan {
  readonly resource: object;
  readonly instrumentationScope: Scope;
  readonly name: string;
  readonly kind: number;
  readonly parentSpanContext: object | undefined;
  readonly startTime: [number, number];
  readonly endTime: [number, number];
  readonly attributes: Span['attributes'];
  readonly events: readonly object[];
  readonly status: object;
  readonly links = none;
  readonly droppedAttributesCount = 0;
  readonly droppedEventsCount = 0;
  readonly droppedLinksCount = 0;
  readonly #span: Span;

  constructor(span: Span, resource: object, scope: Scope) {
    const { trace, parentId, status, events } = span;
    this.#span = span;
    this.resource = resource;
    this.instrumentationScope = scope;
    this.name = span.name;
    this.kind = kinds[span.kind];
    this.parentSpanContext =
      parentId === undefined ? undefined : { spanId: parentId, isRemote: parentId === trace.remote?.spanId };
    this.startTime = highResolution(trace.epoch + span.startedAt);
    this.endTime = highResolution(trace.epoch + span.endedAt);
    this.attributes = span.attributes;
    this.events = events ? events.map(({ name, at }) => ({ name, time: highResolution(trace.epoch + at) })) : none;
    this.status = status ? { code: codes[status], message: span.statusText } : noStatus;
  }

  spanContext(): object {
    const { trace, spanId } = this.#span;
    const state = trace.remote?.state;
    return {
      traceId: trace.traceId,
      spanId,
      traceFlags: 1,
      traceState: state ? { serialize: () => state } : undefined,
    };
  }
}
