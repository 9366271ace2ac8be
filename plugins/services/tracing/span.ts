import { newSpanId } from './ids.ts';
import type { Trace } from './trace.ts';

/** As in OpenTelemetry. */
export type SpanKind = 'internal' | 'server' | 'client';

export type SpanAttribute = string | number | boolean | readonly string[];

export interface SpanEvent {
  readonly name: string;
  /** Milliseconds of `performance.now()`. */
  readonly at: number;
}

/** A piece of work in a trace that is recorded. Times are milliseconds of `performance.now()`. */
export class Span {
  readonly trace: Trace;
  readonly spanId: string;
  /** Undefined for the first span of a trace. */
  readonly parentId: string | undefined;
  readonly kind: SpanKind;
  readonly startedAt: number;
  name: string;
  endedAt = 0;
  readonly attributes: Record<string, SpanAttribute>;
  events: SpanEvent[] | null = null;
  /** Undefined where nothing is said of it. */
  status: 'ok' | 'error' | undefined = undefined;
  statusText = '';

  constructor(
    trace: Trace,
    kind: SpanKind,
    name: string,
    startedAt: number,
    parentId: string | undefined,
    attributes: Record<string, SpanAttribute>,
    spanId: string = newSpanId(),
  ) {
    this.trace = trace;
    this.kind = kind;
    this.name = name;
    this.startedAt = startedAt;
    this.parentId = parentId;
    this.attributes = attributes;
    this.spanId = spanId;
  }

  /** Hands the span to those who export the trace. */
  end(endedAt: number): void {
    this.endedAt = endedAt;
    for (const exporter of this.trace.exporters) exporter.add(this);
  }
}

/** Takes spans that have ended. Never blocks and never throws. */
export interface SpanExporter {
  add(span: Span): void;
}
