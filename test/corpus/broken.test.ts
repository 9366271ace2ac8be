import { deepEqual } from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Issue } from '../../kernel/config/index.ts';
import { inspect } from './inspect.ts';

/** An issue as in `expected.json`: complete, or without a place if it concerns the whole file. */
type Expected = Pick<Issue, 'severity' | 'code' | 'line' | 'column' | 'endLine' | 'endColumn' | 'hint'>;

const home = import.meta.dirname;
const read = (path: string): string => readFileSync(path, 'utf8');

describe('check -t', () => {
  for (const folder of globSync(join(home, 'broken/*')).sort()) {
    const manifest = JSON.parse(read(join(folder, 'expected.json'))) as Record<string, Expected[]>;
    const topic = basename(folder);

    it(`is tested with every file in broken/${topic}`, () => {
      const files = globSync('*', { cwd: folder }).filter((file) => file !== 'expected.json');
      deepEqual(files.sort(), Object.keys(manifest).sort());
    });

    for (const [file, expected] of Object.entries(manifest)) {
      it(`reports exactly the expected errors in broken/${topic}/${file}`, async () => {
        const issues = await inspect(read(join(folder, file)), file);
        deepEqual(issues.map(shown).sort(), expected.map(shown).sort());
      });
    }
  }
});

function shown({ severity, code, line, column, endLine, endColumn, hint }: Expected): string {
  const place = line === undefined ? 'the file' : `${line}:${column}-${endLine}:${endColumn}`;
  return `${place} ${severity} ${code}${hint === undefined ? '' : ` (${hint})`}`;
}
