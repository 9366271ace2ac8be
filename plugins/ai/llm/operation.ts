import {
  type ActiveSpan,
  type BackendSite,
  ByteStream,
  type Counter,
  defineSlot,
  type Histogram,
  type MeterAttributes,
  meterOf,
  type PipeRequest,
  type Reply,
  type Slot,
  type Tracer,
  tracerOf,
  type Wrap,
} from '#contract';
import type { Tokens } from '../../shared/ports/model-usage.ts';
import type { Vendor } from './vendor.ts';

/** Names of vendors in the semantic conventions of OpenTelemetry. */
const conventional: ReadonlyMap<string, string> = new Map([
  ['mistral', 'mistral_ai'],
  ['gemini', 'gcp.gemini'],
  ['bedrock', 'aws.bedrock'],
]);

/** Bucket boundaries of the token histogram in the semantic conventions of OpenTelemetry. */
const tokenBounds = Array.from({ length: 14 }, (_, power) => 4 ** power);
const durationBounds = Array.from({ length: 14 }, (_, power) => 2 ** power / 100);

interface Instruments {
  readonly tokens: Histogram;
  readonly duration: Histogram;
  readonly firstChunk: Histogram;
  readonly cost: Counter;
}

/** Telemetry of the calls to one backend. */
interface Observer {
  readonly instruments: Instruments | null;
  readonly tracer: Tracer | null;
  /** Attributes of metrics and spans. */
  readonly attributes: MeterAttributes;
  /** Labels of the cost metric. */
  readonly labels: MeterAttributes;
}

/** One model call, in the semantic conventions of OpenTelemetry for generative AI. */
export class Operation {
  readonly #observer: Observer;
  readonly #span: ActiveSpan | null;
  readonly #startedAt = performance.now();
  #hasBegun = false;
  #isOver = false;

  constructor(observer: Observer, span: ActiveSpan | null) {
    this.#observer = observer;
    this.#span = span;
  }

  /** Records that the first message of a stream has arrived. */
  begun(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#observer.instruments?.firstChunk.record(this.#seconds, this.#observer.attributes);
  }

  used({ input, output }: Tokens, cost: number | undefined): void {
    const { instruments, attributes, labels } = this.#observer;
    instruments?.tokens.record(input, { ...attributes, 'gen_ai.token.type': 'input' });
    instruments?.tokens.record(output, { ...attributes, 'gen_ai.token.type': 'output' });
    if (cost !== undefined) instruments?.cost.add(cost, labels);
    this.#span?.set({ 'gen_ai.usage.input_tokens': input, 'gen_ai.usage.output_tokens': output });
  }

  /** Ends the operation; later calls are ignored. @param error error code; null for a success. */
  end(error: string | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { instruments, attributes } = this.#observer;
    const failed: MeterAttributes = error === null ? {} : { 'error.type': error };
    instruments?.duration.record(this.#seconds, { ...attributes, ...failed });
    if (error !== null) {
      this.#span?.set(failed);
      this.#span?.fail(error);
    }
    this.#span?.end();
  }

  get #seconds(): number {
    return (performance.now() - this.#startedAt) / 1000;
  }
}

/** The operation that a call belongs to; undefined without telemetry. */
export const operationSlot: Slot<Operation> = defineSlot('operation of a model');

const same: Wrap<PipeRequest> = (next) => next;

/** Measures and traces model calls, if an exporter is configured. */
export function observing(site: BackendSite<unknown>, { name }: Vendor, model: string): Wrap<PipeRequest> {
  const tracer = tracerOf(site);
  const instruments = instrumentsOf(site);
  if (!tracer && !instruments) return same;
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': conventional.get(name) ?? name,
    'gen_ai.request.model': model,
  };
  const labels = { vendor: name, model, endpoint: site.endpoint.endpoint };
  const observer = { instruments, tracer, attributes, labels };
  return (next) => async (request, call) => {
    const span = tracer?.start(call, `chat ${model}`, attributes) ?? null;
    const operation = new Operation(observer, span);
    const reply = await next(request, (span?.call ?? call).with(operationSlot, operation));
    const error = errorOf(reply);
    // For a streamed response, the end of the stream ends the operation, unless the stream is never read.
    if (error === null && reply.body instanceof ByteStream) call.onEnd(() => operation.end(null));
    else operation.end(error);
    return reply;
  };
}

function instrumentsOf(site: BackendSite<unknown>): Instruments | null {
  const meter = meterOf(site);
  if (!meter) return null;
  const bounds = durationBounds;
  return {
    tokens: meter.histogram('gen_ai.client.token.usage', {
      description: 'Number of input and output tokens of each model call.',
      unit: '{token}',
      bounds: tokenBounds,
    }),
    duration: meter.histogram('gen_ai.client.operation.duration', {
      description: 'Duration of model calls, including streamed responses.',
      unit: 's',
      bounds,
    }),
    firstChunk: meter.histogram('gen_ai.client.operation.time_to_first_chunk', {
      description: 'Time until the first message of a stream arrives.',
      unit: 's',
      bounds,
    }),
    cost: meter.counter('ai.cost', { description: 'Cost of tokens, calculated from the prices in the configuration.' }),
  };
}

function errorOf({ errors: [error], status }: Reply): string | null {
  if (error) return error.code;
  return status >= 400 ? String(status) : null;
}
