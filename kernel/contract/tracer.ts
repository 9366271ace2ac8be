import type { Call } from './call.ts';
import type { MeterAttributes } from './meter.ts';
import { definePort, type Port } from './port.ts';
import type { Site } from './site.ts';

/** A piece of work that is under way. Nothing of it waits or throws; after its end nothing has an effect. */
export interface ActiveSpan {
  /** To go on with: what is called by it stands within the span. */
  readonly call: Call;
  /** Adds attributes, or replaces them. More than 64, longer names than 128 and longer texts than 1024 characters are cut. */
  set(attributes: MeterAttributes): void;
  /** Something that happens now. 32 at most. */
  event(name: string): void;
  /** The work has failed. @param reason for people, 256 characters at most. */
  fail(reason?: string): void;
  /** Without it the span ends with its request. */
  end(): void;
}

/** Begins spans in the traces of the gateway. */
export interface Tracer {
  /**
   * Begins a span within what the call is part of. A trace that is not recorded has none, and of one request 128 are: the
   * others are like any other, and nobody sees them.
   * @param name few different ones.
   */
  start(call: Call, name: string, attributes?: MeterAttributes): ActiveSpan;
}

/** Where spans go: whoever exports traces offers a tracer, at the service as a rule. */
export const tracers: Port<Tracer> = definePort('tracers');

/**
 * The tracer of a place, whose plugin names `tracers` in `takes`. Null where nobody exports traces: hand over no wrap then, and
 * tracing costs nothing. A request has one trace, so one tracer is enough however many offer.
 */
export function tracerOf(site: Pick<Site<unknown>, 'take'>): Tracer | null {
  return site.take(tracers) ?? null;
}
