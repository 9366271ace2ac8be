import { deepEqual, ok } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';

describe('the index of the samples', () => {
  it('has one line for every sample, in order, that leads to its guide', () => {
    const rows = readFileSync('samples/README.md', 'utf8').matchAll(/^\| \[(\S+)\]\((\S+)\) \| (.+) \|$/gm);
    const lines = Array.from(rows, ([, name, guide, about]) => ({ name: name!, guide: guide!, about: about! }));
    const folders = readdirSync('samples', { withFileTypes: true }).filter((entry) => entry.isDirectory());
    deepEqual(
      lines.map(({ name }) => name),
      folders.map(({ name }) => name).sort(),
    );
    for (const { name, guide, about } of lines) {
      deepEqual(guide, `${name}/README.md`);
      ok(readFileSync(`samples/${guide}`, 'utf8').startsWith('# '), guide);
      ok(about.endsWith('.') && about.length <= 100, about);
    }
  });
});
