import fc from 'fast-check';
import { data } from './grammar.ts';

/** Large data, as JSON text by size. */
const kinds = {
  deep: (size: number) => `${'{"a":'.repeat(size)}1${'}'.repeat(size)}`,
  deepList: (size: number) => `${'['.repeat(size)}${']'.repeat(size)}`,
  wide: (size: number) => `{${Array.from({ length: size }, (_, at) => `"k${at}":${at}`).join()}}`,
  list: (size: number) => `[${Array.from({ length: size }, (_, at) => at).join()}]`,
  long: (size: number) => `"${'aé\\ud800'.repeat(size)}"`,
};
const bulk = fc.record({ $bulk: fc.constantFrom(...Object.keys(kinds)), size: fc.constantFrom(300, 3_000, 20_000) });

/** Backend data in which a large part is abbreviated, as in `{"$bulk":"deep","size":300}`. */
export const shortData: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 8, arbitrary: data },
  { weight: 1, arbitrary: bulk },
  { weight: 1, arbitrary: fc.record({ a: bulk, id: data }) },
);

/** @returns the data as JSON, with its large parts expanded. */
export function fullJson(value: unknown): string {
  return JSON.stringify(value).replace(/\{"\$bulk":"(\w+)","size":(\d+)\}/g, (_match, kind, size) =>
    kinds[kind as keyof typeof kinds](Number(size)),
  );
}
