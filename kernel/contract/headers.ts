/**
 * The headers of one message in wire order, with repeated headers and original case. Lookups take the lowercase name
 * and ignore case.
 * Stored as a flat list `[name, value, name, value, …]`, the format that Node.js and the HTTP client read and write, so
 * that headers that no component reads cost nothing.
 */
export class HeaderBag {
  /** Flat list of names and values. Read-only for callers; use the methods to change it. */
  readonly list: string[];

  constructor(list: string[] = []) {
    this.list = list;
  }

  /** First value of a header. `name` is lowercase. */
  get(name: string): string | undefined {
    const at = this.#find(name, 0);
    return at < 0 ? undefined : this.list[at + 1];
  }

  /** All values of a header, in order. `name` is lowercase. */
  getAll(name: string): string[] {
    const values: string[] = [];
    for (let at = this.#find(name, 0); at >= 0; at = this.#find(name, at + 2)) values.push(this.list[at + 1]!);
    return values;
  }

  has(name: string): boolean {
    return this.#find(name, 0) >= 0;
  }

  /**
   * Replaces all values of a header. `name` is written as given; characters beyond Latin-1 in the value are written as
   * UTF-8.
   * @throws TypeError for an invalid name, and for a value with line breaks or other control characters. If not caught,
   * it fails the request with 500: a response never lacks a header that a component has set.
   */
  set(name: string, value: string): void {
    const text = writable(name, value);
    this.delete(name);
    this.list.push(name, text);
  }

  /** Adds a value to a header. @throws TypeError like `set`. */
  append(name: string, value: string): void {
    this.list.push(name, writable(name, value));
  }

  /** Removes all values in one pass. */
  delete(name: string): void {
    const { list } = this;
    const lower = name.toLowerCase();
    let end = this.#find(lower, 0);
    if (end < 0) return;
    for (let at = end + 2; at < list.length; at += 2) {
      if (isNamed(list[at]!, lower)) continue;
      list[end] = list[at]!;
      list[end + 1] = list[at + 1]!;
      end += 2;
    }
    list.length = end;
  }

  /** Keeps the headers whose lowercase name passes. */
  filter(keep: (lowerCaseName: string) => boolean): void {
    const { list } = this;
    let end = 0;
    for (let at = 0; at < list.length; at += 2) {
      if (!keep(list[at]!.toLowerCase())) continue;
      list[end] = list[at]!;
      list[end + 1] = list[at + 1]!;
      end += 2;
    }
    list.length = end;
  }

  /** Replaces all headers. @param list in the format of `list`. */
  assign(list: readonly string[]): void {
    this.list.length = 0;
    for (const text of list) this.list.push(text);
  }

  copy(): HeaderBag {
    return new HeaderBag(this.list.slice());
  }

  *[Symbol.iterator](): IterableIterator<[name: string, value: string]> {
    for (let at = 0; at < this.list.length; at += 2) yield [this.list[at]!, this.list[at + 1]!];
  }

  #find(name: string, from: number): number {
    const { list } = this;
    for (let at = from; at < list.length; at += 2) {
      if (isNamed(list[at]!, name)) return at;
    }
    return -1;
  }
}

/** Matches values that consist only of characters that HTTP allows in headers, one byte each. */
const carried = /^[\t\x20-\x7e\x80-\xff]*$/;
const control = /[\x00-\x08\x0a-\x1f\x7f]/;

/**
 * Returns the value in the form in which it is written. An invalid value is rejected here, so that the error is
 * attributed to the component that sets the header.
 */
function writable(name: string, value: string): string {
  if (!setNames.has(name)) checkName(name);
  if (carried.test(value)) return value;
  if (control.test(value)) throw new TypeError(`the value of header ${name} contains control characters`);
  return Buffer.from(value).toString('latin1');
}

/**
 * Names that were found valid before. Components set few different names, and a lookup costs a quarter of the check.
 */
const setNames = new Set<string>();

function checkName(name: string): void {
  if (!headerName.test(name)) throw new TypeError(`${JSON.stringify(name.slice(0, 50))} is not a valid header name`);
  if (setNames.size < KEPT_NAMES && name.length <= KEPT_LENGTH) setNames.add(name);
}

/** Whether a header in the list has a name. @param name lowercase. */
function isNamed(candidate: string, name: string): boolean {
  return candidate.length === name.length && (candidate === name || candidate.toLowerCase() === name);
}

/** Canonical spelling of a header name: `x-REQUEST-id` becomes `X-Request-Id`. */
export function canonicalHeaderName(name: string): string {
  let canonical = canonicalNames.get(name);
  if (canonical === undefined) {
    canonical = name.toLowerCase().replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
    if (canonicalNames.size < KEPT_NAMES && name.length <= KEPT_LENGTH) canonicalNames.set(name, canonical);
  }
  return canonical;
}

/** Limits of the cache of spellings, by number and length: clients can send arbitrary names. */
const KEPT_NAMES = 1000;
const KEPT_LENGTH = 64;
const canonicalNames = new Map<string, string>();

/** Regular expression of header names (HTTP tokens). */
export const HEADER_NAME_PATTERN = "^[!#$%&'*+\\-.^_`|~0-9A-Za-z]+$";

const headerName = new RegExp(HEADER_NAME_PATTERN);

/** True for a valid header name. */
export function isHeaderName(text: string): boolean {
  return headerName.test(text);
}

/**
 * True for the lowercase name of a hop-by-hop header, which is never forwarded. The headers that `Connection` lists
 * must be checked by the caller.
 */
export function isHopByHop(name: string): boolean {
  switch (name.length) {
    case 2:
      return name === 'te';
    case 7:
      return name === 'trailer' || name === 'upgrade';
    case 10:
      if (name === 'connection' || name === 'keep-alive') return true;
      break;
    case 14:
      if (name === 'http2-settings') return true;
      break;
    case 17:
      if (name === 'transfer-encoding') return true;
      break;
  }
  return name.startsWith('proxy-');
}
