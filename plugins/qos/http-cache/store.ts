import { createHash } from 'node:crypto';
import type { HeaderBag } from '#contract';
import { type Entry, fits, variantOf } from './entry.ts';
import type { Asker } from './identity.ts';
import { moment } from './moment.ts';

/** Sender and headers of the request for a response. */
export interface Asking {
  readonly asker: Asker;
  readonly headers: HeaderBag;
}

/** Limits of a store. */
export interface Limits {
  readonly maxItems: number;
  readonly maxBytes: number;
  /** Memory overhead added to the size of each response. */
  readonly overheadBytes: number;
}

/** Maximum number of responses stored per address, so that a client that can choose a header cannot evict everything else. */
const MAX_VARIANTS = 16;

/** Maximum number of changed addresses remembered. */
const MAX_CHANGES = 1000;

/** Stored responses, evicted in LRU order. The store has no limits of its own. */
export class Store {
  readonly #byKey = new Map<string, Entry[]>();
  /** Entries in order of use, with their sizes. */
  readonly #sizes = new Map<Entry, number>();
  #bytes = 0;
  /** Most recently used entry. */
  #newest: Entry | null = null;
  /** Times at which an address was invalidated because its resource was changed, as returned by `moment`. */
  readonly #changes = new Map<string, number>();
  /** Time of the latest change that is no longer remembered. */
  #changedBefore = 0;
  /** Total size of bodies being read into the store, in bytes. */
  pendingBytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  get items(): number {
    return this.#sizes.size;
  }

  /** Newest response that matches a request. */
  find(key: string, { asker, headers }: Asking): Entry | undefined {
    const variants = this.#byKey.get(key);
    if (variants === undefined) return undefined;
    const entry = variants.findLast((variant) => fits(variant, asker, headers));
    if (entry !== undefined) this.#use(entry);
    return entry;
  }

  /** Name of the variant that a request selects: requests with the same name can share one fetch. */
  variantName(key: string, { asker, headers }: Asking): string {
    return shortened(`${key}\n`, variantOf(this.#byKey.get(key) ?? [], asker, headers));
  }

  /** True when responses of an address are stored, whether or not one matches a request. */
  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  /**
   * Stores a response and replaces those of the same variant.
   * @param asking the original request.
   * @returns false when the response is too large.
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

  /** Removes all responses of an address. */
  dropAll(key: string): void {
    for (const entry of this.#byKey.get(key)?.slice() ?? []) this.drop(entry);
  }

  /** Invalidates an address after its resource was changed: the stored responses, and those that were requested earlier and have not yet arrived. */
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

  /** True when the resource at an address has not changed since a response was requested. @param requestedAt time returned by `moment`. */
  isUnchanged(key: string, requestedAt: number): boolean {
    return requestedAt > this.#changedBefore && requestedAt > (this.#changes.get(key) ?? 0);
  }

  clear(): void {
    this.#byKey.clear();
    this.#sizes.clear();
    this.#newest = null;
    this.#bytes = 0;
    this.#changes.clear();
    this.#changedBefore = moment();
  }

  /** Removes the earlier response of the same variant. */
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

/** Bytes of names that do not count towards the size of a response, because `max_size` limits responses by their size on the wire. */
const FREE_NAME_BYTES = 512;

/** Size of a response on the wire, and of the long names it is found by, in bytes. */
export function sizeOf({ key, identity, person, varies, headers, body }: Entry): number {
  let size = 'HTTP/1.1 200 OK\r\n\r\n'.length + (body?.length ?? 0);
  for (const text of headers) size += text.length + 2;
  let names = key.length + identity.length + (person?.length ?? 0);
  for (const [name, value] of varies) names += name.length + (value?.length ?? 0);
  return size + Math.max(names - FREE_NAME_BYTES, 0);
}

/** Maximum length of a name that is stored unchanged, in characters. */
const MAX_NAME = 256;

/** Limits the length of a name: clients control its content, and maps hold many names. */
export function shortened(start: string, rest: string): string {
  if (rest.length <= MAX_NAME) return start + rest;
  return `${start}#${createHash('sha256').update(rest).digest('base64url')}`;
}
