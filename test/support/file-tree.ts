import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { until } from './conditions.ts';

/** A directory of a test. */
export interface FileTree {
  readonly path: string;
  /** Writes a file, and the directories it is in. */
  write(name: string, content: string | Uint8Array): void;
  /** Removes the directory once none of its files is open. */
  remove(): Promise<void>;
}

/** Creates a directory with files, given by name. */
export function makeFileTree(files: Readonly<Record<string, string | Uint8Array>>): FileTree {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-files-')));
  const write: FileTree['write'] = (name, content) => {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), content);
  };
  for (const [name, content] of Object.entries(files)) write(name, content);
  return {
    path,
    write,
    async remove() {
      await until(() => openFilesBelow(path).length === 0);
      rmSync(path, { recursive: true, force: true });
    },
  };
}

/** Open files of this process below a directory; empty if the system does not report them. */
export function openFilesBelow(path: string): string[] {
  if (!existsSync('/proc/self/fd')) return [];
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`);
      return target.startsWith(path) ? [target] : [];
    } catch {
      return [];
    }
  });
}
