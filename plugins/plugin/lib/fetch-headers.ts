import { canonicalHeaderName, HeaderBag } from '#contract';

/** Headers of a message of `fetch`, as they are sent. */
export function bagOf(headers: Headers): HeaderBag {
  const bag = new HeaderBag();
  for (const [name, value] of headers) bag.append(canonicalHeaderName(name), value);
  return bag;
}

/** As `Headers`; what it cannot hold is left out. */
export function headersFrom(bag: HeaderBag): Headers {
  return fillHeaders(new Headers(), bag);
}

/** @returns the headers, with those of the bag. */
export function fillHeaders(headers: Headers, bag: HeaderBag): Headers {
  for (const [name, value] of bag) {
    try {
      headers.append(name, value);
    } catch {
      // A header that came so from a client or a backend and passes on as it is.
    }
  }
  return headers;
}

/** Changes a bag as the headers say that were made of it; what did not change keeps its place, its case and its lines. */
export function takeHeaders(bag: HeaderBag, headers: Headers): void {
  const before = headersFrom(bag);
  for (const name of new Set(before.keys())) if (!headers.has(name)) bag.delete(name);
  for (const name of new Set(headers.keys())) {
    const values = name === 'set-cookie' ? headers.getSetCookie() : [headers.get(name)!];
    const known = name === 'set-cookie' ? before.getSetCookie() : [before.get(name)];
    if (values.length === known.length && values.every((value, at) => value === known[at])) continue;
    bag.delete(name);
    for (const value of values) bag.append(canonicalHeaderName(name), value);
  }
}
