import { HeaderBag, isHeaderName, isHopByHop } from '#contract';

/** Converts message headers to request headers, without those that are invalid in HTTP or control how a request is sent. */
export function headersOf(pairs: Iterable<readonly [name: string, value: string]>): HeaderBag {
  const bag = new HeaderBag();
  for (const [name, value] of pairs) {
    const lower = name.toLowerCase();
    if (!isHeaderName(name) || isHopByHop(lower) || lower === 'host' || lower === 'content-length') continue;
    if (allowed.test(value)) bag.append(name, value);
  }
  return bag;
}

/** Latin-1, without control characters other than the tab. */
const allowed = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;
