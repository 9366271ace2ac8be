import { FirstUse, type Log } from '#contract';
import type { MetricStore } from '../metrics/store.ts';
import type { Span, SpanExporter } from '../tracing/trace.ts';
import { BatchQueue, within } from './batch-queue.ts';
import type { Delegate, MetricRequest, SpanRequest } from './delegates.ts';
import { sdkMetrics } from './metrics.ts';
import { Outage } from './outage.ts';
import type { Resource, Scope } from './resource.ts';
import { sdkSpans } from './spans.ts';
import type { OtlpTarget } from './target.ts';

/** Longest time to send waiting items when an exporter closes, and to close the connections of the exporter, in milliseconds. */
const CLOSE_MS = 4500;
const END_MS = 500;

/** Settings of an OTLP exporter. */
export interface OtlpSettings {
  readonly name: string;
  readonly target: OtlpTarget;
  readonly resource: Resource;
  readonly scope: Scope;
  /** Logs every push at DEBUG. */
  readonly logsPushes: boolean;
}

/**
 * Sends spans and metrics to one collector. Recording never waits for the collector. The packages that exports need are
 * loaded at the first export.
 */
export class OtlpExporter implements SpanExporter {
  readonly #settings: OtlpSettings;
  readonly #log: Log;
  readonly #outage: Outage;
  readonly #spans: BatchQueue<Span>;
  readonly #traces: FirstUse<Delegate<SpanRequest>>;
  readonly #metrics: FirstUse<Delegate<MetricRequest>>;
  readonly #pushing = new Map<MetricStore, Promise<void>>();

  constructor(settings: OtlpSettings, log: Log) {
    const { name, target, resource, scope } = settings;
    this.#settings = settings;
    this.#log = log;
    this.#outage = new Outage(log, `exporter "${name}" at ${target.host}:${target.port}`);
    this.#traces = new FirstUse(async () => (await import('./delegates.ts')).traceDelegate(target));
    this.#metrics = new FirstUse(async () => (await import('./delegates.ts')).metricDelegate(target));
    const toSdk = sdkSpans(resource, scope);
    this.#spans = new BatchQueue(
      async (spans) => {
        await (await this.#traces.get()).send(toSdk(spans));
        this.#logPush(() => `${spans.length} spans pushed`);
      },
      this.#outage,
      'spans',
    );
  }

  add(span: Span): void {
    this.#spans.add(span);
  }

  /** Sends the content of a store. Pushes of the same store never overlap. */
  push(store: MetricStore): Promise<void> {
    const going = this.#pushing.get(store);
    if (going) return going;
    const pushed = this.#push(store).finally(() => this.#pushing.delete(store));
    this.#pushing.set(store, pushed);
    return pushed;
  }

  async #push(store: MetricStore): Promise<void> {
    try {
      const delegate = await this.#metrics.get();
      const { resource, scope } = this.#settings;
      for (const request of sdkMetrics(store, resource, scope)) await delegate.send(request);
      this.#logPush(() => 'metrics pushed');
      this.#outage.passed('spans');
    } catch (error) {
      // Metrics need no retry, because sums are cumulative: the next push includes what this one did not deliver.
      this.#outage.failed(error instanceof Error ? error.message : String(error), 0, 'spans');
    }
  }

  #logPush(line: () => string): void {
    if (this.#settings.logsPushes) this.#log.debug(line);
  }

  /** Sends waiting items and closes the connections, within seconds even if the collector does not respond. */
  async close(): Promise<void> {
    const rest = Promise.all([this.#spans.close(CLOSE_MS), ...this.#pushing.values()]);
    await within(CLOSE_MS, rest);
    const ended = Promise.all([this.#traces, this.#metrics].map(async (delegate) => (await delegate.made())?.close()));
    await within(END_MS, ended);
  }
}
