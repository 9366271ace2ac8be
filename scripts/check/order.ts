import { globSync, readFileSync, writeFileSync } from 'node:fs';
import type { FileTime } from './times.ts';

/** File with the slowest test files and their seconds. */
const RECORD = 'scripts/check/long-files.json';

/** Faster files are not recorded, because their order has no effect. */
const LONG_SECONDS = 3;

/**
 * All test files: the longest first, so that no process is left with one while the others have ended, then the rest by
 * name.
 */
export function longestFirst(): string[] {
  const seconds: Readonly<Record<string, number>> = JSON.parse(readFileSync(RECORD, 'utf8'));
  const files = globSync('test/**/*.test.ts').sort();
  return files.sort((a, b) => (seconds[b] ?? 0) - (seconds[a] ?? 0));
}

/** Writes the record after a complete run. @param times of all files, the longest first. */
export function recordLong(times: readonly FileTime[]): void {
  const long = times
    .map(({ file, wallMs }) => [file, Math.round(wallMs / 1000)] as const)
    .filter(([, seconds]) => seconds >= LONG_SECONDS);
  writeFileSync(RECORD, `${JSON.stringify(Object.fromEntries(long), null, 2)}\n`);
}
