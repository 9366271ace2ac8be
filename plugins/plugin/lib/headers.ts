import { canonicalHeaderName, type HeaderBag } from '#contract';
import { type Named, namedValues, type Spelling, textsOf, valuesOf } from './values.ts';

/** Header names in their canonical spelling, each with the values in order. */
export type Headers = Named<string[]>;

const spelling: Spelling<string[]> = { spell: canonicalHeaderName, coerce: textsOf };

/** The headers of a message for code that looks them up in any case and changes them in place. */
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
 * Writes what became of headers; those that are as they were keep their place and their case.
 * @param isElsewhere the bag is of another message than the one that they were made for.
 * @throws TypeError for a name or a value that no header can have.
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
