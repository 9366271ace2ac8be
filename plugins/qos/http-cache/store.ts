import { createHash } from 'node:crypto';
import type { HeaderBag } from '#contract';
import { type Entry, fits, variantOf } from './entry.ts';
import type { Asker } from './identity.ts';

/** For whom an answer was asked: who, and with which headers. */
export interface Asking {
  readonly asker: Asker;
  readonly headers: HeaderBag;
}

/** What a store may hold. */
export interface Limits {
  readonly maxItems: number;
  readonly maxBytes: number;
  /** Added to the size of each answer for what holding it takes. */
  readonly overheadBytes: number;
}

/** Answers of one address that are kept: whoever can choose a header must not drive out everything else. */
const MAX_VARIANTS = 16;

/** Addresses at which something was changed that are remembered. */
const MAX_CHANGES = 1000;

/** Now, in milliseconds that only grow and are the same for all processes of a machine. */
export function moment(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

/** Kept answers, those used longest ago first to go. It has no limits of its own. */
export class Store {
  readonly #byKey = new Map<string, Entry[]>();
  /** In order of use, with their sizes. */
  readonly #sizes = new Map<Entry, number>();
  #bytes = 0;
  /** The one used last. */
  #newest: Entry | null = null;
  /** When the answers of an address were dropped because something was changed there: see `moment`. */
  readonly #changes = new Map<string, number>();
  /** When the latest of those changes was that are not remembered any more. */
  #changedBefore = 0;
  /** Bytes of bodies on their way into the store. */
  pendingBytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  get items(): number {
    return this.#sizes.size;
  }

  /** The newest answer for such a request. */
  find(key: string, { asker, headers }: Asking): Entry | undefined {
    const variants = this.#byKey.get(key);
    if (variants === undefined) return undefined;
    const entry = variants.findLast((variant) => fits(variant, asker, headers));
    if (entry !== undefined) this.#use(entry);
    return entry;
  }

  /** Names the variant of an address that a request asks for: requests with the same name can share one fetch. */
  variantName(key: string, { asker, headers }: Asking): string {
    return shortened(`${key}\n`, variantOf(this.#byKey.get(key) ?? [], asker, headers));
  }

  /** True where answers of an address are kept, whether or not one fits a request. */
  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  /**
   * Keeps an answer in the place of those it answers for.
   * @param asking the request it was made for.
   * @returns false for one that is too large.
   */
  put(entry: Entry, limits: Limits, asking: Asking | null = null): boolean {
    const size = sizeOf(entry) + limits.overheadBytes;
    if (asking !== null) {
      const before = this.find(entry.key, asking);
      if (before !== undefined) this.drop(before);
    }
    this.#dropEqual(entry);
    if (size >= limits.maxBytes) return false;
    const variants = this.#byKey.get(entry.key);
    if (variants === undefined) this.#byKey.set(entry.key, [entry]);
    else {
      variants.push(entry);
      if (variants.length > MAX_VARIANTS) this.drop(variants[0]!);
    }
    this.#sizes.set(entry, size);
    this.#newest = entry;
    this.#bytes += size;
    this.#shrink(limits);
    return true;
  }

  drop(entry: Entry): void {
    const size = this.#sizes.get(entry);
    if (size === undefined) return;
    this.#sizes.delete(entry);
    if (entry === this.#newest) this.#newest = null;
    this.#bytes -= size;
    const variants = this.#byKey.get(entry.key)!;
    variants.splice(variants.indexOf(entry), 1);
    if (variants.length === 0) this.#byKey.delete(entry.key);
  }

  /** Drops every answer of an address. */
  dropAll(key: string): void {
    for (const entry of this.#byKey.get(key)?.slice() ?? []) this.drop(entry);
  }

  /** Something was changed at an address: its answers, and those under way that were asked for before, are worthless. */
  changed(key: string): void {
    this.dropAll(key);
    this.#changes.delete(key);
    this.#changes.set(key, moment());
    if (this.#changes.size <= MAX_CHANGES) return;
    for (const [oldest, at] of this.#changes) {
      this.#changes.delete(oldest);
      this.#changedBefore = at;
      return;
    }
  }

  /** True when nothing was changed at an address since an answer was asked for. @param askedAt see `moment`. */
  isUnchanged(key: string, askedAt: number): boolean {
    return askedAt > this.#changedBefore && askedAt > (this.#changes.get(key) ?? 0);
  }

  clear(): void {
    this.#byKey.clear();
    this.#sizes.clear();
    this.#newest = null;
    this.#bytes = 0;
    this.#changes.clear();
    this.#changedBefore = moment();
  }

  /** The same variant, as it was made before. */
  #dropEqual(entry: Entry): void {
    const varies = JSON.stringify(entry.varies);
    const equal = this.#byKey
      .get(entry.key)
      ?.find(
        (other) =>
          other.identity === entry.identity && other.person === entry.person && JSON.stringify(other.varies) === varies,
      );
    if (equal !== undefined) this.drop(equal);
  }

  #use(entry: Entry): void {
    if (entry === this.#newest) return;
    this.#newest = entry;
    const size = this.#sizes.get(entry)!;
    this.#sizes.delete(entry);
    this.#sizes.set(entry, size);
  }

  #shrink({ maxItems, maxBytes }: Limits): void {
    for (const oldest of this.#sizes.keys()) {
      if (this.#sizes.size <= maxItems && this.#bytes <= maxBytes) return;
      this.drop(oldest);
    }
  }
}

/** Bytes of names that come with every answer: `max_size` limits answers as they are on the wire. */
const FREE_NAME_BYTES = 512;

/** Bytes of an answer as it is on the wire, and of long names that it is found by. */
export function sizeOf({ key, identity, person, varies, headers, body }: Entry): number {
  let size = 'HTTP/1.1 200 OK\r\n\r\n'.length + (body?.length ?? 0);
  for (const text of headers) size += text.length + 2;
  let names = key.length + identity.length + (person?.length ?? 0);
  for (const [name, value] of varies) names += name.length + (value?.length ?? 0);
  return size + Math.max(names - FREE_NAME_BYTES, 0);
}

/** Characters of a name that is held as it is. */
const MAX_NAME = 256;

/** A name of bounded length: clients choose what goes into it, and maps hold many. */
export function shortened(start: string, rest: string): string {
  if (rest.length <= MAX_NAME) return start + rest;
  return `${start}#${createHash('sha256').update(rest).digest('base64url')}`;
}
