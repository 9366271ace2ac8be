import type { HeaderBag } from '#contract';
import { newSpanId, newTraceId } from './ids.ts';

/** The part of a trace that another service has begun. */
export interface RemoteContext {
  readonly traceId: string;
  readonly spanId: string;
  /** The other service records it; undefined when it leaves that to us. */
  readonly sampled: boolean | undefined;
  /** As it came; empty for none. */
  readonly state: string;
}

/** What came with a request. */
export interface Carried {
  /** Null where the request begins a trace. */
  readonly remote: RemoteContext | null;
  /** To be passed on; empty for none. */
  readonly baggage: string;
}

/** What a request carries of which nobody looks at the headers. */
export const nothingCarried: Carried = Object.freeze({ remote: null, baggage: '' });

/** Decides whether a trace is recorded. */
export type Sampler = (traceId: string, remote: RemoteContext | null) => boolean;

const all: Sampler = () => true;
const none: Sampler = () => false;

/**
 * Records the given share of all traces. Between 0 and 1 what another service has decided counts; else the id of the trace
 * decides, so that all services that look at it decide alike.
 * @param rate from 0, none, to 1, all.
 */
export function ratioSampler(rate: number): Sampler {
  if (rate >= 1) return all;
  if (rate <= 0) return none;
  const limit = rate * 2 ** 52;
  return (traceId, remote) => remote?.sampled ?? Number.parseInt(traceId.slice(19), 16) < limit;
}

/** The trace that a request belongs to. */
export class Trace {
  readonly sampled: boolean;
  /** The part that another service has begun; null for none. */
  readonly remote: RemoteContext | null;
  /** As of `Carried`. */
  readonly baggage: string;
  /** Who gets its spans; nobody where it is not recorded. */
  readonly exporters: readonly SpanExporter[];
  /** Between `performance.now()` and the time of day, in milliseconds. */
  readonly epoch: number;
  readonly #hasServerSpan: boolean;
  #traceId: string | null;
  #spanId: string | null = null;

  /** @param hasServerSpan the request as a whole has a span, `spanId`, if the trace is recorded. */
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

  /** Of the span of the whole request, whether it is recorded or not. */
  get spanId(): string {
    this.#spanId ??= newSpanId();
    return this.#spanId;
  }

  /** What a span has that is within no other one of ours. */
  get parentId(): string | undefined {
    return this.#hasServerSpan ? this.spanId : this.remote?.spanId;
  }
}

const nobody: readonly SpanExporter[] = Object.freeze([]);

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

/** One way to tell another service of a trace. */
export interface Propagator {
  /** The headers it writes, in lower case. */
  readonly headers: readonly string[];
  /** Null where the headers tell of no trace, or of none that can be. */
  extract(headers: HeaderBag): RemoteContext | null;
  /** @param spanId of the caller. */
  inject(headers: HeaderBag, trace: Trace, spanId: string): void;
}
