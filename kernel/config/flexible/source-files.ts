import { type Dirent, existsSync, readdirSync } from 'node:fs';
import { dirname, isAbsolute, join, normalize, resolve } from 'node:path';
import { ConfigError } from '#contract';
import { fileErrorReason } from '../../values/file-error-reason.ts';
import { readRegularFile } from '../../values/regular-file.ts';
import { decodeText } from '../syntax/load.ts';

/** Called for everything that is read: the bytes of a file, the names in a directory, null for anything unreadable. */
export type OnRead = (path: string, content: Uint8Array | readonly string[] | null) => void;

/** Files that a configuration is assembled from. Each lookup is reported, even of a missing file, so that it is watched. */
export class SourceFiles {
  readonly #onRead: OnRead;
  /** Everything that could be read, in the order of first access. */
  readonly read = new Set<string>();
  /** Absolute path of the output file, which must not be read. */
  leaveOut: string | null = null;

  constructor(onRead: OnRead) {
    this.#onRead = onRead;
  }

  /** Reads a text file. @throws Error with the reason if it cannot be read. */
  text(path: string): string {
    const bytes = this.#tell(path, () => readRegularFile(path));
    this.read.add(path);
    return decodeText(bytes, path);
  }

  /** Resolves a path in a file: relative to that file's directory, otherwise to the working directory. */
  find(path: string, from: string): string {
    const neighbor = isAbsolute(path) ? path : join(dirname(from), path);
    const here = normalize(path);
    if (neighbor === here || existsSync(neighbor) || !existsSync(here)) return neighbor;
    // This path is watched even if the file does not exist, because it takes precedence as soon as it is created.
    this.#onRead(neighbor, null);
    return here;
  }

  /** Entries of a directory, sorted by name. @throws Error with the reason. */
  list(path: string): Dirent[] {
    let entries: Dirent[] = [];
    this.#tell(path, () => {
      entries = readdirSync(path, { withFileTypes: true });
      return entries.map(({ name }) => name);
    });
    // Skips files that orchestrators and editors create in the directory.
    const counted = entries.filter(
      ({ name }) => !name.startsWith('..') && !name.endsWith('~') && resolve(path, name) !== this.leaveOut,
    );
    return counted.sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  /** Lists all files below a directory as relative paths, following symbolic links. */
  *below(path: string, from = ''): Iterable<string> {
    for (const { name } of this.list(join(path, from))) {
      const inner = join(from, name);
      if (this.isDirectory(join(path, inner))) yield* this.below(path, inner);
      else yield inner;
    }
  }

  /** True for a directory; false for any other path, existing or not. */
  isDirectory(path: string): boolean {
    try {
      readdirSync(path);
      return true;
    } catch {
      return false;
    }
  }

  #tell<T extends Uint8Array | readonly string[]>(path: string, read: () => T): T {
    let content: T;
    try {
      content = read();
    } catch (error) {
      this.#onRead(path, null);
      throw new Error(fileErrorReason(error), { cause: error });
    }
    this.#onRead(path, content);
    return content;
  }
}

/** Error in a source of the configuration. */
export function settingsError(path: string, reason: string, cause?: unknown): ConfigError {
  return new ConfigError('TEMPLATE_SETTINGS', '', `loading flexible-config settings: - ${path}: ${reason}`, { cause });
}
