/** A finished recording. */
export interface Kept {
  /** Endpoint, for example `GET /users/{id}`; empty if no endpoint matched. */
  readonly endpoint: string;
  /** Entries of the HAR format, joined by commas. */
  readonly entries: string;
}

/** Limits of the recordings in memory. */
export interface RingLimits {
  readonly maxBytes: number;
  readonly maxPerEndpoint: number;
}

/** Memory of a recording in addition to its text, in bytes. */
const OVERHEAD_BYTES = 256;

/** Maximum length of a file of recordings, in characters: `sluice replay` and `sluice test` read at most 64 MiB. */
const MAX_FILE_LENGTH = 48 * 1024 * 1024;

const sizeOf = ({ endpoint, entries }: Kept): number => endpoint.length + entries.length * 2 + OVERHEAD_BYTES;

/** The latest recordings, oldest first. */
export class Ring {
  /** Total size of the recordings in memory, in bytes. */
  bytes = 0;
  readonly #all = new Set<Kept>();
  readonly #byEndpoint = new Map<string, Set<Kept>>();

  /** Adds a recording and drops the oldest ones above the limits. A recording above `maxBytes` is not kept. */
  add(kept: Kept, { maxBytes, maxPerEndpoint }: RingLimits): void {
    if (sizeOf(kept) > maxBytes) return;
    const others = this.#byEndpoint.get(kept.endpoint) ?? new Set();
    this.#byEndpoint.set(kept.endpoint, others.add(kept));
    this.#all.add(kept);
    this.bytes += sizeOf(kept);
    while (others.size > maxPerEndpoint) this.#drop(others.values().next().value!);
    while (this.bytes > maxBytes) this.#drop(this.#all.values().next().value!);
  }

  /** The latest recordings, oldest first, as far as they fit in a file. */
  latest(count: number): Kept[] {
    const all = [...this.#all];
    const first = Math.max(0, all.length - count);
    let length = 0;
    for (let at = all.length - 1; at >= first; at--) {
      length += all[at]!.entries.length;
      if (length > MAX_FILE_LENGTH) return all.slice(at + 1);
    }
    return all.slice(first);
  }

  #drop(kept: Kept): void {
    this.#all.delete(kept);
    this.bytes -= sizeOf(kept);
    const others = this.#byEndpoint.get(kept.endpoint);
    others?.delete(kept);
    if (others?.size === 0) this.#byEndpoint.delete(kept.endpoint);
  }
}
