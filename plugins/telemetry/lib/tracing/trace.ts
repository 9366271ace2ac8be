import type { HeaderBag } from '#contract';
import { newSpanId, newTraceId } from './ids.ts';

/** Trace context received from another service. */
export interface RemoteContext {
  readonly traceId: string;
  readonly spanId: string;
  /** Sampling decision of the other service; undefined if it left the decision open. */
  readonly sampled: boolean | undefined;
  /** Value of `tracestate` as received; empty if absent. */
  readonly state: string;
}

/** Propagated data received with a request. */
export interface Carried {
  /** Trace context of the caller; null if the request starts a trace. */
  readonly remote: RemoteContext | null;
  /** Baggage to forward; empty if absent. */
  readonly baggage: string;
}

/** Propagated data of a request whose headers are not read. */
export const nothingCarried: Carried = Object.freeze({ remote: null, baggage: '' });

/** Decides whether a trace is recorded. */
export type Sampler = (traceId: string, remote: RemoteContext | null) => boolean;

const all: Sampler = () => true;
const none: Sampler = () => false;

/**
 * Records the given share of all traces. For a rate between 0 and 1, a decision of another service takes precedence;
 * otherwise the trace ID decides, so that all services that use it decide alike.
 * @param rate from 0, which records no trace, to 1, which records all.
 */
export function ratioSampler(rate: number): Sampler {
  if (rate >= 1) return all;
  if (rate <= 0) return none;
  const limit = rate * 2 ** 52;
  return (traceId, remote) => remote?.sampled ?? Number.parseInt(traceId.slice(19), 16) < limit;
}

/** The trace of a request. */
export class Trace {
  readonly sampled: boolean;
  /** Trace context of another service; null without one. */
  readonly remote: RemoteContext | null;
  /** Baggage to forward, as in `Carried`. */
  readonly baggage: string;
  /** Exporters of the spans; empty if the trace is not recorded. */
  readonly exporters: readonly SpanExporter[];
  /** Offset from `performance.now()` to the time of day, in milliseconds. */
  readonly epoch: number;
  readonly #hasServerSpan: boolean;
  #traceId: string | null;
  #spanId: string | null = null;

  /** @param hasServerSpan whether the request as a whole has a span, `spanId`, if the trace is recorded. */
  constructor(
    sampler: Sampler,
    exporters: readonly SpanExporter[],
    { remote, baggage }: Carried,
    hasServerSpan: boolean,
  ) {
    this.remote = remote;
    this.baggage = baggage;
    this.#hasServerSpan = hasServerSpan;
    this.#traceId = remote?.traceId ?? (sampler === all || sampler === none ? null : newTraceId());
    this.sampled = sampler(this.#traceId ?? '', remote);
    this.exporters = this.sampled ? exporters : nobody;
    this.epoch = this.sampled ? Date.now() - performance.now() : 0;
  }

  get traceId(): string {
    this.#traceId ??= newTraceId();
    return this.#traceId;
  }

  /** Id of the span of the whole request, whether recorded or not. */
  get spanId(): string {
    this.#spanId ??= newSpanId();
    return this.#spanId;
  }

  /** Parent of spans that are not within another span of the gateway. */
  get parentId(): string | undefined {
    return this.#hasServerSpan ? this.spanId : this.remote?.spanId;
  }
}

const nobody: readonly SpanExporter[] = Object.freeze([]);

/** Kind of a span, as in OpenTelemetry. */
export type SpanKind = 'internal' | 'server' | 'client';

export type SpanAttribute = string | number | boolean | readonly string[];

export interface SpanEvent {
  readonly name: string;
  /** Time of the event, in milliseconds of `performance.now()`. */
  readonly at: number;
}

/** An operation in a recorded trace. Times are milliseconds of `performance.now()`. */
export class Span {
  readonly trace: Trace;
  readonly spanId: string;
  /** ID of the parent span; undefined for the first span of a trace. */
  readonly parentId: string | undefined;
  readonly kind: SpanKind;
  readonly startedAt: number;
  name: string;
  endedAt = 0;
  readonly attributes: Record<string, SpanAttribute>;
  events: SpanEvent[] | null = null;
  /** Status of the span; undefined if unset. */
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

  /** Ends the span and passes it to the trace's exporters. */
  end(endedAt: number): void {
    this.endedAt = endedAt;
    for (const exporter of this.trace.exporters) exporter.add(this);
  }
}

/** Receives ended spans. Never blocks and never throws. */
export interface SpanExporter {
  add(span: Span): void;
}

/** A format of trace context in headers. */
export interface Propagator {
  /** Names of the headers that the format writes, in lowercase. */
  readonly headers: readonly string[];
  /** Reads the trace context; null if the headers contain no trace, or an invalid one. */
  extract(headers: HeaderBag): RemoteContext | null;
  /** @param spanId span id of the caller. */
  inject(headers: HeaderBag, trace: Trace, spanId: string): void;
}
