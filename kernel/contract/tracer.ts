import type { Call } from './call.ts';
import type { MeterAttributes } from './meter.ts';
import { definePort, type Port } from './port.ts';
import type { Site } from './site.ts';

/** A span of work in progress. All methods are synchronous and never throw; after the end they have no effect. */
export interface ActiveSpan {
  /** The call to continue with: work that uses this call is traced as part of the span. */
  readonly call: Call;
  /** Adds or replaces attributes. Limits: 64 attributes, names of 128 and texts of 1024 characters; the rest is cut. */
  set(attributes: MeterAttributes): void;
  /** Records an event. At most 32 per span. */
  event(name: string): void;
  /** Marks the work as failed. @param reason for people, at most 256 characters. */
  fail(reason?: string): void;
  /** Ends the span. A span that is not ended explicitly ends with its request. */
  end(): void;
}

/** Starts spans in the traces of the gateway. */
export interface Tracer {
  /**
   * Starts a span within the current one of the call. Spans of traces that are not recorded, and spans beyond 128 per
   * request, behave the same but are not exported.
   * @param name one of few different names.
   */
  start(call: Call, name: string, attributes?: MeterAttributes): ActiveSpan;
}

/** Lets exporters of traces provide their tracers to other plugins, usually for the whole service. */
export const tracers: Port<Tracer> = definePort('tracers');

/**
 * Returns the tracer for a plugin's place in the configuration; the plugin must list `tracers` in `takes`. Null without
 * an exporter: the plugin should then return no wrap, so that tracing costs nothing. A request has one trace, so only
 * one of the available tracers is returned.
 */
export function tracerOf(site: Pick<Site<unknown>, 'take'>): Tracer | null {
  return site.take(tracers) ?? null;
}
