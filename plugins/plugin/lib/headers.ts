import { canonicalHeaderName, type HeaderBag } from '#contract';
import { type Named, namedValues, type Spelling, textsOf, valuesOf } from './values.ts';

/** Values of each header in order, by canonical header name. */
export type Headers = Named<string[]>;

const spelling: Spelling<string[]> = { spell: canonicalHeaderName, coerce: textsOf };

/** Wraps the headers of a message for code that looks them up in any case and changes them in place. */
export function headersOf(bag: HeaderBag): Headers {
  return namedValues(spelling, () => {
    const values: Headers = Object.create(null);
    for (const [name, value] of bag) {
      const known = values[canonicalHeaderName(name)];
      if (known) known.push(value);
      else values[canonicalHeaderName(name)] = [value];
    }
    return values;
  });
}

/**
 * Writes changed headers to a bag; unchanged headers keep their position and case.
 * @param isElsewhere the bag belongs to a different message than the headers were made for.
 * @throws TypeError for an invalid header name or value.
 */
export function writeHeaders(bag: HeaderBag, given: object, isElsewhere = false): void {
  const values = valuesOf(given, spelling, isElsewhere);
  if (!values) return;
  for (const name of new Set(bag.list.filter((_, at) => at % 2 === 0).map(canonicalHeaderName))) {
    if (!values[name]) bag.delete(name);
  }
  for (const [name, list] of Object.entries(values)) {
    const known = bag.getAll(name.toLowerCase());
    if (known.length === list.length && known.every((value, at) => value === list[at])) continue;
    bag.delete(name);
    for (const value of list) bag.append(name, String(value));
  }
}
