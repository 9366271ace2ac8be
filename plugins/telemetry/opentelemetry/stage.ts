import { type Call, defineSlot, type MeterAttributes, type PipeRequest, type Reply, type Wrap } from '#contract';
import type { Instrument } from '../lib/metrics/instrument.ts';
import { outcomeOf, type PipeOutcome } from '../lib/metrics/pipe-outcome.ts';
import type { Distribution } from '../lib/metrics/series.ts';
import type { Trace } from '../lib/tracing/trace.ts';
import { Span, type SpanAttribute } from '../lib/tracing/trace.ts';
import { STAGE } from './instruments.ts';
import type { TraceLayer } from './layers.ts';

/** The recorded span that encloses the receiver of the call. */
export const spanSlot = defineSlot<Span>('recorded span');

/** Duration histogram of a pipe, by outcome. */
export class StageMetrics {
  readonly #histogram: Instrument<Distribution>;
  readonly #attributes: MeterAttributes;
  readonly #series: Distribution[] = [];

  constructor(histogram: Instrument<Distribution>, attributes: MeterAttributes) {
    this.#histogram = histogram;
    this.#attributes = attributes;
  }

  record(ms: number, { error, canceled, complete }: PipeOutcome): void {
    const at = (error ? 4 : 0) + (canceled ? 2 : 0) + (complete ? 1 : 0);
    this.#series[at] ??= this.#histogram.at({ ...this.#attributes, error, canceled, complete });
    this.#series[at].add(ms / 1000);
  }
}

/** Metrics and spans of one stage of a request: all backends of the endpoint together, or one backend. */
export interface Stage {
  /** Name of the stage, such as `proxy`. */
  readonly name: string;
  /** Pattern of the endpoint or the backend. */
  readonly route: string;
  /** Duration histogram; null if nothing is measured. */
  readonly metrics: StageMetrics | null;
  /** Settings for spans; null if no spans are recorded. */
  readonly traces: TraceLayer | null;
  /** Returns the trace of a request; null without one. */
  trace(request: PipeRequest, call: Call): Trace | null;
  /** Returns the id of the parent span. */
  parent(trace: Trace, call: Call): string | undefined;
}

/** Measures a pipe and records its span. */
export function reportStage(stage: Stage): Wrap<PipeRequest> {
  const { metrics, traces } = stage;
  return (next) => (request, call) => {
    const trace = stage.trace(request, call);
    const recorded = traces && trace?.sampled ? trace : null;
    if (!metrics && !recorded) return next(request, call);
    const startedAt = performance.now();
    const span = recorded ? openSpan(stage, traces!, recorded, startedAt, request, call) : null;
    const finish = (reply: Reply): Reply => {
      const endedAt = performance.now();
      const outcome = outcomeOf(reply);
      metrics?.record(endedAt - startedAt, outcome);
      if (span) closeSpan(span, traces!, reply, outcome, endedAt);
      return reply;
    };
    const reply = next(request, span ? call.with(spanSlot, span) : call);
    return reply instanceof Promise ? reply.then(finish) : finish(reply);
  };
}

function openSpan(
  stage: Stage,
  traces: TraceLayer,
  trace: Trace,
  startedAt: number,
  request: PipeRequest,
  call: Call,
): Span {
  const attributes: Record<string, SpanAttribute> = { ...traces.attributes, [STAGE]: stage.name };
  traces.headers?.(request.headers, 'request', attributes);
  return new Span(trace, 'internal', stage.route, startedAt, stage.parent(trace, call), attributes);
}

function closeSpan(span: Span, traces: TraceLayer, reply: Reply, outcome: PipeOutcome, endedAt: number): void {
  const { attributes } = span;
  const { errors } = reply;
  attributes['complete'] = outcome.complete;
  if (outcome.canceled) attributes['canceled'] = true;
  if (outcome.error) {
    attributes['error'] = errorText(errors);
    span.status = 'error';
  }
  attributes['http.response.status_code'] = errors.length > 0 ? (reply.failed ? reply.status : 500) : reply.status;
  traces.headers?.(reply.headers, 'response', attributes);
  span.end(endedAt);
}

/** Joins the texts of all errors, truncated. */
function errorText(errors: Reply['errors']): string {
  return errors
    .slice(0, 8)
    .map(({ message }) => message.slice(0, 256))
    .join('\n');
}
