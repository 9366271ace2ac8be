import type { Call, ModuleSpan, ModuleTracer, Tracer } from '#contract';

/** Key under which objects passed to handlers carry their call. */
export const CALL = Symbol('call');

const silentSpan: ModuleSpan = Object.freeze({ set() {}, event() {}, fail() {}, end() {} });
const silentTracer: ModuleTracer = Object.freeze({ start: () => silentSpan });

/** @param tracer null if no traces are exported. */
export function hostTracer(tracer: Tracer | null): ModuleTracer {
  if (!tracer) return silentTracer;
  return Object.freeze<ModuleTracer>({
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
