import fc from 'fast-check';
import { stringify as toToml } from 'smol-toml';
import { stringify as toYaml } from 'yaml';
import { parseDocument } from '../../../kernel/config/index.ts';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { damaged, data, oddTexts } from '../grammar.ts';
import { defineTarget } from '../target.ts';

const objects = fc.dictionary(fc.oneof(fc.constantFrom('version', 'endpoints'), oddTexts), data, { maxKeys: 5 });

/** @returns an empty text for a value that a syntax cannot express. */
const written = (write: (value: unknown) => string) => (value: unknown) => {
  try {
    return write(value);
  } catch {
    return '';
  }
};
const inputs = fc.oneof(
  ...(
    [
      ['json', (value: unknown) => JSON.stringify(value, null, 1)],
      ['yaml', (value: unknown) => toYaml(value)],
      ['toml', (value: unknown) => toToml(value as object)],
    ] as const
  ).map(([ending, write]) => damaged(objects.map(written(write))).map((text) => ({ file: `gateway.${ending}`, text }))),
);

/** Texts of configurations in all syntaxes. */
export const syntaxes = defineTarget<{ file: string; text: string }>({
  name: 'syntaxes',
  law: 'A text is read, or refused by ConfigErrors.',
  boundMs: 100,
  rooms: ['kernel/config/'],
  isGuided: true,
  inputs,
  async open() {
    return { accept, async close() {} };
  },
});

function accept({ file, text }: { file: string; text: string }): void {
  try {
    parseDocument(text, file);
  } catch (error) {
    if (!(error instanceof ConfigErrors)) throw error;
  }
}
