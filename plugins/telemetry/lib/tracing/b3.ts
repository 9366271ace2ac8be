import { isSpanId, isTraceId } from './ids.ts';
import type { Propagator, RemoteContext } from './trace.ts';

/** Zipkin's single B3 header. */
export const b3: Propagator = {
  headers: ['b3'],
  extract(headers) {
    const [traceId, spanId, sampled] = (headers.get('b3') ?? '').split('-');
    return contextOf(traceId, spanId, sampled);
  },
  inject(headers, trace, spanId) {
    headers.set('b3', `${trace.traceId}-${spanId}-${trace.sampled ? 1 : 0}`);
  },
};

/** B3 in several headers. */
export const b3Multi: Propagator = {
  headers: ['x-b3-traceid', 'x-b3-spanid', 'x-b3-sampled', 'x-b3-parentspanid', 'x-b3-flags'],
  extract(headers) {
    const sampled = headers.get('x-b3-flags') === '1' ? 'd' : headers.get('x-b3-sampled');
    return contextOf(headers.get('x-b3-traceid'), headers.get('x-b3-spanid'), sampled);
  },
  inject(headers, trace, spanId) {
    headers.set('x-b3-traceid', trace.traceId);
    headers.set('x-b3-spanid', spanId);
    headers.set('x-b3-sampled', trace.sampled ? '1' : '0');
    headers.delete('x-b3-parentspanid');
    headers.delete('x-b3-flags');
  },
};

const decisions: ReadonlyMap<string, boolean> = new Map([
  ['1', true],
  ['true', true],
  // The value `d` means debug: the trace is recorded regardless of the sampling rate.
  ['d', true],
  ['0', false],
  ['false', false],
]);

function contextOf(
  trace: string | undefined,
  span: string | undefined,
  sampled: string | undefined,
): RemoteContext | null {
  // A 64-bit id is padded with zeros, because it is the second half of a 128-bit id.
  const traceId = trace?.toLowerCase().padStart(32, '0');
  const spanId = span?.toLowerCase();
  if (traceId === undefined || spanId === undefined || !isTraceId(traceId) || !isSpanId(spanId)) return null;
  return { traceId, spanId, sampled: decisions.get(sampled ?? ''), state: '' };
}
