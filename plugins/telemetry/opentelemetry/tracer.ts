import { type ActiveSpan, type Call, defineSlot, type MeterAttributes, type Slot, type Tracer } from '#contract';
import { Span, type SpanEvent, type Trace } from '../lib/tracing/trace.ts';
import { requestTrace } from './endpoint-telemetry.ts';
import { shortened } from './header-report.ts';
import { spanSlot } from './stage.ts';

/** Maximum number of spans of components per request. */
const MOST_SPANS = 128;
const MOST_ATTRIBUTES = 64;
const MOST_EVENTS = 32;
/** Maximum lengths of names and values, in characters. */
const LONGEST_NAME = 128;
const LONGEST_TEXT = 1024;
const LONGEST_REASON = 256;

/** Creates spans for operations of components in the trace of the request, or in the trace it gets once its endpoint is known. */
export const tracer: Tracer = {
  start(call, name, attributes) {
    const trace = call.get(requestTrace);
    if (trace && !trace.sampled) return new UnseenSpan(call);
    const spans = spansOf(call);
    if (spans.count === MOST_SPANS) return new UnseenSpan(call);
    const span = new ComponentSpan(call, shortened(String(name), LONGEST_NAME), trace);
    if (attributes) span.set(attributes);
    spans.add(span);
    return span;
  },
};

/** Spans of components in one request. */
class RequestSpans {
  count = 0;
  readonly #spans: ComponentSpan[] = [];

  add(span: ComponentSpan): void {
    this.count += 1;
    this.#spans.push(span);
  }

  end(): void {
    for (const span of this.#spans) span.conclude();
  }
}

const requestSpans: Slot<RequestSpans> = defineSlot('spans of components');

function spansOf(call: Call): RequestSpans {
  const known = call.get(requestSpans);
  if (known) return known;
  const spans = new RequestSpans();
  call.set(requestSpans, spans);
  call.onEnd(() => spans.end());
  return spans;
}

/** A span that is not recorded, because its trace is not sampled or the request already has the maximum number of spans. */
class UnseenSpan implements ActiveSpan {
  readonly call: Call;

  constructor(call: Call) {
    this.call = call;
  }

  set(): void {}
  event(): void {}
  fail(): void {}
  end(): void {}
}

class ComponentSpan implements ActiveSpan {
  readonly #call: Call;
  readonly #name: string;
  readonly #startedAt = performance.now();
  readonly #attributes: Record<string, string | number | boolean> = Object.create(null);
  #count = 0;
  #events: SpanEvent[] | null = null;
  #failure: string | null = null;
  #span: Span | null = null;
  #inner: Call | null = null;
  #endedAt = 0;
  #isExported = false;

  /** @param trace undefined while the request has no trace: the span then encloses its endpoint. */
  constructor(call: Call, name: string, trace: Trace | undefined) {
    this.#call = call;
    this.#name = name;
    if (trace) this.#span = this.#spanOf(trace);
  }

  get call(): Call {
    // A span around the endpoint gets no children, because inner spans belong to the span of the request.
    if (!this.#span) return this.#call;
    this.#inner ??= this.#call.with(spanSlot, this.#span);
    return this.#inner;
  }

  set(attributes: MeterAttributes): void {
    if (this.#endedAt > 0) return;
    for (const [name, value] of Object.entries(attributes)) {
      const isText = typeof value === 'string';
      if (!isText && typeof value !== 'boolean' && !Number.isFinite(value)) continue;
      const key = shortened(name, LONGEST_NAME);
      if (!(key in this.#attributes) && ++this.#count > MOST_ATTRIBUTES) return;
      this.#attributes[key] = isText ? shortened(value, LONGEST_TEXT) : value;
    }
  }

  event(name: string): void {
    if (this.#endedAt > 0) return;
    this.#events ??= [];
    if (this.#events.length >= MOST_EVENTS) return;
    this.#events.push({ name: shortened(String(name), LONGEST_NAME), at: performance.now() });
  }

  fail(reason = ''): void {
    if (this.#endedAt === 0) this.#failure = shortened(String(reason), LONGEST_REASON);
  }

  end(): void {
    if (this.#endedAt > 0) return;
    this.#endedAt = performance.now();
    this.#export();
  }

  /** Ends and exports the span at the end of the request. */
  conclude(): void {
    this.end();
    this.#export();
  }

  #export(): void {
    if (this.#isExported) return;
    const trace = this.#call.get(requestTrace);
    if (!trace) return;
    this.#isExported = true;
    const span = this.#span ?? this.#spanOf(trace);
    span.events = this.#events;
    if (this.#failure !== null) {
      span.status = 'error';
      span.statusText = this.#failure;
    }
    span.end(this.#endedAt);
  }

  #spanOf(trace: Trace): Span {
    const parent = this.#call.get(spanSlot)?.spanId ?? trace.parentId;
    return new Span(trace, 'internal', this.#name, this.#startedAt, parent, this.#attributes);
  }
}
