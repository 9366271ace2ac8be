/** Decoded query parameters, in order of first appearance. */
export class Query {
  /** Null until a parameter is added, because most requests have none. */
  #values: Map<string, string[]> | null = null;

  /** Parses the text after `?`. Invalid percent-encoding is kept unchanged. */
  static parse(search: string): Query {
    const query = new Query();
    if (search === '') return query;
    for (const pair of search.split('&')) {
      if (pair === '') continue;
      const equals = pair.indexOf('=');
      if (equals < 0) query.append(decode(pair), '');
      else query.append(decode(pair.slice(0, equals)), decode(pair.slice(equals + 1)));
    }
    return query;
  }

  get size(): number {
    return this.#values?.size ?? 0;
  }

  has(name: string): boolean {
    return this.#values?.has(name) ?? false;
  }

  /** First value of a parameter. */
  get(name: string): string | undefined {
    return this.#values?.get(name)?.[0];
  }

  getAll(name: string): readonly string[] {
    return this.#values?.get(name) ?? [];
  }

  set(name: string, ...values: string[]): void {
    this.#put(name, values);
  }

  #put(name: string, values: string[]): void {
    this.#values ??= new Map();
    this.#values.set(name, values);
  }

  append(name: string, value: string): void {
    const values = this.#values?.get(name);
    if (values) values.push(value);
    else this.set(name, value);
  }

  delete(name: string): void {
    this.#values?.delete(name);
  }

  /** A copy with the named parameters only. */
  pick(names: Iterable<string>): Query {
    const query = new Query();
    if (this.#values === null) return query;
    for (const name of names) {
      const values = this.#values.get(name);
      if (values) query.#put(name, values.slice());
    }
    return query;
  }

  copy(): Query {
    return this.#values === null ? new Query() : this.pick(this.#values.keys());
  }

  [Symbol.iterator](): IterableIterator<[name: string, values: string[]]> {
    return (this.#values ?? noValues).entries();
  }

  /** Encoded text without `?`: names sorted, values in order, spaces as `+`. Empty without parameters. */
  toString(): string {
    if (this.#values === null) return '';
    const pairs: string[] = [];
    for (const name of [...this.#values.keys()].sort()) {
      for (const value of this.#values.get(name)!)
        pairs.push(`${encodeQueryComponent(name)}=${encodeQueryComponent(value)}`);
    }
    return pairs.join('&');
  }
}

/** Maximum number of parameters: parsing 100,000 of them would take 0.3 s. */
const PARAMETER_LIMIT = 1000;

/**
 * True for more than 1,000 query parameters or form fields. Texts shorter than 2,000 characters are accepted without
 * counting.
 */
export function hasTooManyParameters(text: string): boolean {
  if (text.length < 2 * PARAMETER_LIMIT) return false;
  let count = 1;
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) {
    if (++count > PARAMETER_LIMIT) return true;
  }
  return false;
}

const noValues = new Map<string, string[]>();

function decode(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}

/** Percent-encodes everything except letters, digits and `-_.~`; a space becomes `+`, a lone surrogate U+FFFD. */
export function encodeQueryComponent(text: string): string {
  return encodeComponent(text).replaceAll('%20', '+');
}

/** Percent-encodes a value for one path segment, except letters, digits and `-_.~!$&'()*+,;=:@`. */
export function encodePathSegment(text: string): string {
  if (/^[\w\-.~]*$/.test(text)) return text;
  return encodeURIComponent(text.toWellFormed()).replace(/%(?:24|26|2B|2C|3B|3D|3A|40)/g, decodeURIComponent);
}

function encodeComponent(text: string): string {
  if (/^[\w\-.~]*$/.test(text)) return text;
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (mark) => '%' + mark.charCodeAt(0).toString(16).toUpperCase(),
  );
}
