import { readFileSync } from 'node:fs';
import { UsageError } from '../arguments.ts';
import { cannotRead } from './file-errors.ts';

/** Reads an accept file: one difference per line; `#` begins a comment. @throws UsageError. */
export function readAccepted(file: string): Set<string> {
  try {
    const lines = readFileSync(file, 'utf8').split(/\r?\n/);
    return new Set(lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#')));
  } catch (error) {
    throw new UsageError(cannotRead(file, error));
  }
}
