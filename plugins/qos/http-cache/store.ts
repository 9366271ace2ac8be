import type { HeaderBag } from '#contract';
import { type Entry, fits } from './entry.ts';

/** What a store may hold. */
export interface Limits {
  readonly maxItems: number;
  readonly maxBytes: number;
  /** Added to the size of each answer for what holding it takes. */
  readonly overheadBytes: number;
}

/** Answers of one address that are kept: whoever can choose a header must not drive out everything else. */
const MAX_VARIANTS = 16;

/** Kept answers, those used longest ago first to go. It has no limits of its own. */
export class Store {
  readonly #byKey = new Map<string, Entry[]>();
  /** In order of use, with their sizes. */
  readonly #sizes = new Map<Entry, number>();
  #bytes = 0;
  /** The one used last. */
  #newest: Entry | null = null;
  /** Bytes of bodies on their way into the store. */
  pendingBytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  get items(): number {
    return this.#sizes.size;
  }

  /** The newest answer for such a request. */
  find(key: string, identity: string, headers: HeaderBag): Entry | undefined {
    const variants = this.#byKey.get(key);
    if (variants === undefined) return undefined;
    const entry = variants.findLast((variant) => fits(variant, identity, headers));
    if (entry !== undefined) this.#use(entry);
    return entry;
  }

  /** Keeps an answer in the place of those it answers for. @returns false for one that is too large. */
  put(entry: Entry, limits: Limits, requestHeaders: HeaderBag | null = null): boolean {
    const size = sizeOf(entry) + limits.overheadBytes;
    if (requestHeaders !== null) {
      const before = this.find(entry.key, entry.identity, requestHeaders);
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

  clear(): void {
    this.#byKey.clear();
    this.#sizes.clear();
    this.#newest = null;
    this.#bytes = 0;
  }

  /** The same variant, as another process made it. */
  #dropEqual(entry: Entry): void {
    const equal = this.#byKey
      .get(entry.key)
      ?.find(
        ({ identity, varies }) =>
          identity === entry.identity && JSON.stringify(varies) === JSON.stringify(entry.varies),
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

/** Bytes of an answer as it is on the wire. */
export function sizeOf({ headers, body }: Entry): number {
  let size = 'HTTP/1.1 200 OK\r\n\r\n'.length + (body?.length ?? 0);
  for (const text of headers) size += text.length + 2;
  return size;
}
