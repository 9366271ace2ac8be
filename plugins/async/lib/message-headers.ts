import { HeaderBag, isHeaderName, isHopByHop } from '#contract';

/** Headers of a message as those of a request: what HTTP cannot have is left out, and what says how a request is sent. */
export function headersOf(pairs: Iterable<readonly [name: string, value: string]>): HeaderBag {
  const bag = new HeaderBag();
  for (const [name, value] of pairs) {
    const lower = name.toLowerCase();
    if (!isHeaderName(name) || isHopByHop(lower) || lower === 'host' || lower === 'content-length') continue;
    if (allowed.test(value)) bag.append(name, value);
  }
  return bag;
}

/** No control characters but the tab, and nothing beyond Latin-1. */
const allowed = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;
