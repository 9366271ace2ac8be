import { readFileSync, statSync } from 'node:fs';

/** What the audit asks of files that the configuration names. */
export interface Files {
  /** The text of a file; undefined when it cannot be read. */
  text(path: string): string | undefined;
  /** True when accounts other than the owner and the group may write there. */
  isOpen(path: string): boolean;
}

/** The files of this machine. */
export const localFiles: Files = {
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
