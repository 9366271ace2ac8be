import type { HeaderBag } from '#contract';
import { b3, b3Multi } from './b3.ts';
import type { Carried, Propagator, Trace } from './trace.ts';
import { baggageOf, traceContext } from './w3c.ts';

/** Trace context propagation between services. */
export interface Propagation {
  /** Headers that are set on requests to backends, in lower case. */
  readonly headers: readonly string[];
  /** Extracts the remote trace context and the baggage of a request. */
  extract(headers: HeaderBag): Carried;
  inject(headers: HeaderBag, trace: Trace, spanId: string): void;
}

const propagators: Readonly<Record<string, Propagator>> = { tracecontext: traceContext, b3, b3multi: b3Multi };

/** Names allowed in `OTEL_PROPAGATORS`. */
export const PROPAGATOR_NAMES: readonly string[] = [...Object.keys(propagators), 'baggage', 'none'];

/**
 * The propagation for a list of names; default: `tracecontext,baggage`. The first propagator that finds a trace takes
 * precedence; all of them inject it.
 * @throws RangeError for an unknown name.
 */
export function propagationOf(names = 'tracecontext,baggage'): Propagation {
  const listed = names
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const unknown = listed.find((name) => !PROPAGATOR_NAMES.includes(name));
  if (unknown !== undefined) throw new RangeError(`unknown propagator "${unknown}"`);
  const all = listed.includes('none') ? [] : listed.flatMap((name) => propagators[name] ?? []);
  const hasBaggage = listed.includes('baggage') && !listed.includes('none');
  return {
    headers: [...all.flatMap(({ headers }) => headers), ...(hasBaggage ? ['baggage'] : [])],
    extract(headers) {
      const baggage = hasBaggage ? baggageOf(headers) : '';
      for (const propagator of all) {
        const remote = propagator.extract(headers);
        if (remote) return { remote, baggage };
      }
      return { remote: null, baggage };
    },
    inject(headers, trace, spanId) {
      for (const propagator of all) propagator.inject(headers, trace, spanId);
      if (!hasBaggage) return;
      if (trace.baggage !== '') headers.set('baggage', trace.baggage);
      else headers.delete('baggage');
    },
  };
}
