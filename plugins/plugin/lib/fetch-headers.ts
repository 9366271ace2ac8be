import { canonicalHeaderName, HeaderBag } from '#contract';

/** Converts the headers of a `fetch` message to a bag, as they are sent. */
export function bagOf(headers: Headers): HeaderBag {
  const bag = new HeaderBag();
  for (const [name, value] of headers) bag.append(canonicalHeaderName(name), value);
  return bag;
}

/** Converts a bag to `Headers`; omits headers that it cannot represent. */
export function headersFrom(bag: HeaderBag): Headers {
  return fillHeaders(new Headers(), bag);
}

/** @returns the headers, extended by those of the bag. */
export function fillHeaders(headers: Headers, bag: HeaderBag): Headers {
  for (const [name, value] of bag) {
    try {
      headers.append(name, value);
    } catch {
      // `Headers` rejects this name or value, which a client or a backend has sent. It stays in the bag and is
      // forwarded unchanged.
    }
  }
  return headers;
}

/** Applies changes of the headers to the bag that they were made from; unchanged headers keep their position, case and lines. */
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
