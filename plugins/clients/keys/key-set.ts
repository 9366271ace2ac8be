import { type DataObject, isObject } from '#contract';
import { type IdentifyStrategy, identifyStrategies, Jwk } from './jwk.ts';

/** Maximum number of keys kept of one set; beyond it the first ones are dropped. */
const MAX_KEYS = 10_000;

/** Parses the keys of a set as plain objects. @throws Error that describes the problem without any of the text. */
export function keysIn(text: string): DataObject[] {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw new Error('not valid JSON');
  }
  const keys = isObject(document) && Object.hasOwn(document, 'keys') ? document['keys'] : undefined;
  if (!Array.isArray(keys)) throw new Error('not a JWK set: {"keys": [...]} is missing');
  const members = keys.slice(-MAX_KEYS).filter(isObject);
  if (members.length === 0) throw new Error('the JWK set has no keys');
  return members;
}

/** A JWK set, indexed by key names. */
export class KeySet {
  readonly #byText = new Map<string, Jwk>();
  readonly #byId = new Map<IdentifyStrategy, Map<string, Jwk>>();

  /**
   * @param previous set whose unchanged keys are reused as the same objects, so that values cached with them stay
   * valid.
   * @throws Error that describes the problem without any of the text.
   */
  static parse(text: string, previous: KeySet | null = null): KeySet {
    const set = new KeySet();
    const known = previous ? previous.#byText : set.#byText;
    for (const members of keysIn(text)) {
      const written = JSON.stringify(members);
      set.#byText.set(written, known.get(written) ?? new Jwk(members));
    }
    return set;
  }

  get keys(): readonly Jwk[] {
    return [...this.#byText.values()];
  }

  /** Returns the last key with that name. */
  find(strategy: IdentifyStrategy, id: string): Jwk | undefined {
    let keys = this.#byId.get(strategy);
    if (!keys) {
      keys = new Map();
      for (const key of this.#byText.values()) if (key.kind !== undefined) keys.set(key.id(strategy), key);
      this.#byId.set(strategy, keys);
    }
    return keys.get(id);
  }
}

export { type IdentifyStrategy, identifyStrategies };
