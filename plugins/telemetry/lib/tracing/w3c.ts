import type { HeaderBag } from '#contract';
import { isSpanId, isTraceId } from './ids.ts';
import type { Propagator } from './trace.ts';

/** Longest state and baggage that are forwarded, in characters. */
const MAX_STATE = 512;
const MAX_BAGGAGE = 8192;

/** W3C `traceparent` and `tracestate`. */
export const traceContext: Propagator = {
  headers: ['traceparent', 'tracestate'],
  extract(headers) {
    const parent = headers.get('traceparent');
    if (parent === undefined) return null;
    const match = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/.exec(parent.trim());
    if (!match) return null;
    const [version, traceId, spanId, flags] = match.slice(1, 5) as [string, string, string, string];
    const rest = match[5];
    // Later versions may have more fields after the flags; version 00 must not, and version ff is invalid.
    if (version === 'ff' || (version === '00' && rest !== undefined)) return null;
    if (!isTraceId(traceId) || !isSpanId(spanId)) return null;
    const state = headers.getAll('tracestate').join(',');
    return {
      traceId,
      spanId,
      sampled: (Number.parseInt(flags, 16) & 1) === 1,
      state: isHeaderText(state, MAX_STATE) ? state : '',
    };
  },
  inject(headers, trace, spanId) {
    headers.set('traceparent', `00-${trace.traceId}-${spanId}-0${trace.sampled ? 1 : 0}`);
    if (trace.remote && trace.remote.state !== '') headers.set('tracestate', trace.remote.state);
    else headers.delete('tracestate');
  },
};

/** The baggage of a request, to be forwarded unchanged; empty if absent or too long. */
export function baggageOf(headers: HeaderBag): string {
  if (!headers.has('baggage')) return '';
  const baggage = headers.getAll('baggage').join(',');
  return isHeaderText(baggage, MAX_BAGGAGE) ? baggage : '';
}

function isHeaderText(text: string, longest: number): boolean {
  return text.length <= longest && /^[\x20-\x7e\t]*$/.test(text);
}
