import fc from 'fast-check';
import { data } from './grammar.ts';

/** A change of one value in a document. */
export interface Change {
  /** Index of the value, in document order. */
  readonly at: number;
  readonly act: 'replace' | 'remove' | 'double' | 'rename';
  readonly value: unknown;
}

export const changes: fc.Arbitrary<Change> = fc.record({
  at: fc.nat(),
  act: fc.constantFrom('replace', 'remove', 'double', 'rename'),
  value: data,
});

/** @param document with members; modified in place. */
export function applyChange(document: object, { at, act, value }: Change): void {
  const places = [...placesIn(document)];
  if (places.length === 0) return;
  const { parent, key } = places[at % places.length]!;
  const holder = parent as Record<string, unknown>;
  if (act === 'remove') delete holder[key];
  else if (act === 'double' && Array.isArray(parent)) parent.push(structuredClone(parent[Number(key)]));
  else if (act === 'rename' && !Array.isArray(parent)) {
    holder[`${key}_`] = holder[key];
    delete holder[key];
  } else holder[key] = value;
}

/** All values of a document except itself, with their places. */
export function* placesIn(value: unknown): Generator<{ parent: object; key: string }> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    yield { parent: value, key };
    yield* placesIn(inner);
  }
}
