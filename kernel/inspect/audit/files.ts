import { readFileSync, statSync } from 'node:fs';
import type { AuditedFiles } from '#contract';

/** The files of this machine. */
export const localFiles: AuditedFiles = {
  text: (path) => attempt(() => readFileSync(path, 'utf8')),
  isOpen: (path) => ((attempt(() => statSync(path))?.mode ?? 0) & 0o002) !== 0,
};

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
