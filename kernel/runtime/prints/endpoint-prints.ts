import { hash } from 'node:crypto';
import type { EndpointConfig } from '#contract';
import { canonicalJson } from '../../config/index.ts';

/** Unique id of an endpoint within a configuration. */
export function endpointId({ method, endpoint }: { readonly method: string; readonly endpoint: string }): string {
  return `${method} ${endpoint}`;
}

/** Fingerprint of an endpoint: equal for endpoints that are identical, including their backends and components. */
export function endpointPrint(endpoint: EndpointConfig): string {
  let print = prints.get(endpoint);
  if (print === undefined) {
    print = hash('sha256', canonicalJson(endpoint as never), 'base64url');
    prints.set(endpoint, print);
  }
  return print;
}

/** Endpoints are immutable, and unchanged ones are the same objects in later configurations. */
const prints = new WeakMap<EndpointConfig, string>();

/** New, changed and removed endpoints, by their `endpointId`, sorted. */
export interface EndpointChanges {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** Number of buckets. With 10,000 endpoints, each has about 40, which are hashed again if one of them changes. */
const BUCKETS = 256;

/** Some of the endpoints of a set, by their ids. Must not change once it is in a set. */
class Bucket {
  readonly prints: Map<string, string>;
  #digest: string | null = null;

  constructor(prints: Map<string, string>) {
    this.prints = prints;
  }

  /** Independent of the order. Computed on first use. */
  get digest(): string {
    this.#digest ??= hash(
      'sha256',
      [...this.prints]
        .map(([id, print]) => `\n${id} ${print}`)
        .sort()
        .join(''),
    );
    return this.#digest;
  }
}

const empty = new Bucket(new Map());

/**
 * The fingerprints of all endpoints of a configuration, by their ids, in any order. A derived set shares all buckets
 * without changes with the original, so sets are compared bucket by bucket.
 */
export class EndpointPrints {
  static readonly none = new EndpointPrints(new Array<Bucket>(BUCKETS).fill(empty), 0);

  readonly #buckets: readonly Bucket[];
  readonly size: number;

  private constructor(buckets: readonly Bucket[], size: number) {
    this.#buckets = buckets;
    this.size = size;
  }

  get(id: string): string | undefined {
    return this.#buckets[bucketOf(id)]!.prints.get(id);
  }

  /** Derives a set of fingerprints in which some endpoints are removed and others added. Yields after each endpoint. */
  *with(
    gone: Iterable<EndpointConfig>,
    come: Iterable<EndpointConfig>,
  ): Generator<undefined, EndpointPrints, undefined> {
    const buckets = [...this.#buckets];
    const open = (id: string): Map<string, string> => {
      const at = bucketOf(id);
      if (buckets[at] === this.#buckets[at]) buckets[at] = new Bucket(new Map(this.#buckets[at]!.prints));
      return buckets[at]!.prints;
    };
    let { size } = this;
    for (const endpoint of gone) {
      const id = endpointId(endpoint);
      if (open(id).delete(id)) size--;
      yield;
    }
    for (const endpoint of come) {
      const id = endpointId(endpoint);
      const prints = open(id);
      if (!prints.has(id)) size++;
      prints.set(id, endpointPrint(endpoint));
      yield;
    }
    return new EndpointPrints(buckets, size);
  }

  isSame(other: EndpointPrints): boolean {
    return this.size === other.size && this.#differences(other).next().done === true;
  }

  /** The changes that lead from this set to another. */
  changesTo(other: EndpointPrints): EndpointChanges {
    const added: string[] = [];
    const changed: string[] = [];
    const removed: string[] = [];
    for (const [before, after] of this.#differences(other)) {
      for (const [id, print] of after) {
        const known = before.get(id);
        if (known === undefined) added.push(id);
        else if (known !== print) changed.push(id);
      }
      for (const id of before.keys()) if (!after.has(id)) removed.push(id);
    }
    return { added: added.sort(), changed: changed.sort(), removed: removed.sort() };
  }

  *#differences(other: EndpointPrints): Generator<readonly [Bucket['prints'], Bucket['prints']], void, undefined> {
    for (const [at, own] of this.#buckets.entries()) {
      const others = other.#buckets[at]!;
      if (own !== others && own.digest !== others.digest) yield [own.prints, others.prints];
    }
  }

  /** SHA-256 of all fingerprints. */
  get digest(): string {
    const sums = this.#buckets.map((bucket) => (bucket.prints.size > 0 ? bucket.digest : ''));
    return hash('sha256', sums.join('\n'), 'base64url');
  }
}

/** FNV-1a: the same in every process, because the digest depends on it. */
function bucketOf(id: string): number {
  let sum = 0x811c9dc5;
  for (let at = 0; at < id.length; at++) sum = Math.imul(sum ^ id.charCodeAt(at), 0x01000193);
  return ((sum ^ (sum >>> 8) ^ (sum >>> 16)) >>> 0) % BUCKETS;
}
