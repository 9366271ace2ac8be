import { readdirSync, readFileSync, statSync } from 'node:fs';

/** File descriptors of this process: files, sockets and pipes alike. */
export interface Descriptors {
  readonly open: number;
  /** The soft limit, as of `ulimit -n`. */
  readonly limit: number;
  /** The reason why none can be opened: EMFILE for the limit of the process, ENFILE for the system's; null when some are left. */
  readonly exhausted: 'EMFILE' | 'ENFILE' | null;
}

/** The limit as last read, because it cannot be read once the last descriptor is in use. */
let limit = 0;

/**
 * Reads how many file descriptors are open; works with none left.
 * @returns null on systems without `/proc`.
 */
export function readDescriptors(): Descriptors | null {
  try {
    const [, text] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    if (text === undefined) return null;
    limit = Number(text);
    // Linux before version 6.2 reports a size of 0.
    return { open: sizeOfTable() || readdirSync('/proc/self/fd').length, limit, exhausted: null };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EMFILE' && code !== 'ENFILE') return null;
    return { open: sizeOfTable() || limit, limit, exhausted: code };
  }
}

/** Number of open descriptors, from the metadata of `/proc/self/fd`: reading it needs no free descriptor. */
function sizeOfTable(): number {
  return statSync('/proc/self/fd').size;
}
