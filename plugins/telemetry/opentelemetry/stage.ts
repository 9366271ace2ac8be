import { type Call, defineSlot, type MeterAttributes, type PipeRequest, type Reply, type Wrap } from '#contract';
import type { Instrument } from '../../services/metrics/instrument.ts';
import { outcomeOf, type PipeOutcome } from '../../services/metrics/pipe-outcome.ts';
import type { Distribution } from '../../services/metrics/series.ts';
import type { Trace } from '../../services/tracing/trace.ts';
import { Span, type SpanAttribute } from '../../services/tracing/trace.ts';
import { STAGE } from './instruments.ts';
import type { TraceLayer } from './layers.ts';

/** The recorded span around what gets the call. */
export const spanSlot = defineSlot<Span>('recorded span');

/** The histogram of a pipe, by how it ended. */
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

/** What a pipe is reported as. */
export interface Stage {
  /** As in `proxy`. */
  readonly name: string;
  /** Pattern of the endpoint or the backend. */
  readonly route: string;
  /** Null where nothing is measured. */
  readonly metrics: StageMetrics | null;
  /** Null where no spans are recorded. */
  readonly traces: TraceLayer | null;
  /** The trace of a request; null where none is. */
  trace(request: PipeRequest, call: Call): Trace | null;
  /** The span that its own is within. */
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

/** Texts of all errors, in bounded length. */
function errorText(errors: Reply['errors']): string {
  return errors
    .slice(0, 8)
    .map(({ message }) => message.slice(0, 256))
    .join('\n');
}
