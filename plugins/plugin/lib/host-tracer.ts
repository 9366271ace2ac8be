import type { ActiveSpan, Call, MeterAttributes, Tracer } from '#contract';

/** Under it what handlers get has the call it is for. */
export const CALL = Symbol('call');

/** Anything that a handler is called with and that knows its call: a context, or the request of an HTTP server. */
export type OfCall = object;

/** A span of a handler. */
export type HostSpan = Omit<ActiveSpan, 'call'>;

/** Begins spans in the trace of a request. */
export interface HostTracer {
  /**
   * @param of what the handler was called with: the context, or the request of an HTTP server.
   * @param name few different ones. @param attributes see `ActiveSpan.set`.
   * @throws TypeError for anything else.
   */
  start(of: OfCall, name: string, attributes?: MeterAttributes): HostSpan;
}

const silentSpan: HostSpan = Object.freeze({ set() {}, event() {}, fail() {}, end() {} });
const silentTracer: HostTracer = Object.freeze({ start: () => silentSpan });

/** @param tracer null where nobody exports traces. */
export function hostTracer(tracer: Tracer | null): HostTracer {
  if (!tracer) return silentTracer;
  return Object.freeze<HostTracer>({
    start(of, name, attributes) {
      const call = (of as { readonly [CALL]?: Call } | null | undefined)?.[CALL];
      if (!call)
        throw new TypeError('host.tracer.start requires the context of the request, or the request of an HTTP server');
      const span = tracer.start(call, name, attributes);
      return {
        set: (more) => span.set(more),
        event: (event) => span.event(event),
        fail: (reason) => span.fail(reason),
        end: () => span.end(),
      };
    },
  });
}
