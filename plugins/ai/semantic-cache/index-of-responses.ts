import { decode, nearest } from './vectors.ts';

/** Maximum size of all responses with their vectors, in bytes. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Maximum number of responses that a request is compared with: about 4 ms with 1,536 dimensions. */
const MAX_COMPARED = 2000;

/** Size of an entry without its vector and response, in bytes. */
const ENTRY_BYTES = 400;

/** A query to the index. Vectors are in base64, because queries can come from another process. */
export type Question =
  | { readonly does: 'clear' }
  | {
      readonly does: 'find';
      readonly variant: string;
      readonly text: string;
      readonly vector: string | null;
      readonly distance: number;
    }
  | {
      readonly does: 'keep';
      readonly variant: string;
      readonly text: string;
      readonly vector: string;
      readonly response: string;
      readonly ttlMs: number;
    };

interface Entry {
  readonly variant: string;
  readonly text: string;
  readonly vector: Float32Array;
  readonly response: string;
  readonly expiresAt: number;
  readonly bytes: number;
}

/**
 * Responses by the meaning of their requests. Requests are compared exactly, with all responses of the same variant;
 * responses of other variants are never considered.
 */
export class ResponseIndex {
  /** Responses by variant and by the hash of their text, least recently used first. */
  readonly #variants = new Map<string, Map<string, Entry>>();
  /** All entries, least recently used first. */
  readonly #entries = new Set<Entry>();
  #bytes = 0;

  /** Number of stored responses. */
  get size(): number {
    return this.#entries.size;
  }

  /** @param now in milliseconds. @returns the response of the nearest request; null if none is near enough. */
  answer(question: Question, now: number): string | null {
    if (question.does === 'clear') {
      this.#variants.clear();
      this.#entries.clear();
      this.#bytes = 0;
      return null;
    }
    if (question.does === 'keep') {
      this.#keep(question, now);
      return null;
    }
    const entries = this.#variants.get(question.variant);
    if (!entries) return null;
    for (const entry of entries.values()) if (entry.expiresAt <= now) this.#drop(entry);
    const { vector, distance } = question;
    const found =
      entries.get(question.text) ?? (vector === null ? undefined : nearest(entries.values(), decode(vector), distance));
    if (!found) return null;
    this.#drop(found);
    this.#add(found);
    return found.response;
  }

  #keep({ variant, text, vector: encoded, response, ttlMs }: Question & { does: 'keep' }, now: number): void {
    const vector = decode(encoded);
    const bytes = vector.byteLength + response.length * 2 + ENTRY_BYTES;
    if (bytes > MAX_BYTES) return;
    const known = this.#variants.get(variant);
    const replaced = known?.get(text);
    if (replaced) this.#drop(replaced);
    if (known && known.size >= MAX_COMPARED) this.#drop(known.values().next().value!);
    for (const entry of this.#entries) {
      if (this.#bytes + bytes <= MAX_BYTES) break;
      this.#drop(entry);
    }
    this.#add({ variant, text, vector, response, expiresAt: now + ttlMs, bytes });
  }

  #add(entry: Entry): void {
    const entries = this.#variants.get(entry.variant) ?? new Map<string, Entry>();
    this.#variants.set(entry.variant, entries);
    entries.set(entry.text, entry);
    this.#entries.add(entry);
    this.#bytes += entry.bytes;
  }

  #drop(entry: Entry): void {
    const entries = this.#variants.get(entry.variant);
    entries?.delete(entry.text);
    if (entries?.size === 0) this.#variants.delete(entry.variant);
    this.#entries.delete(entry);
    this.#bytes -= entry.bytes;
  }
}
