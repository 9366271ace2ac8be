import { type Dirent, existsSync, readdirSync } from 'node:fs';
import { dirname, isAbsolute, join, normalize, resolve } from 'node:path';
import { ConfigError } from '#contract';
import { fileTrouble } from '../../values/file-trouble.ts';
import { readRegularFile } from '../../values/regular-file.ts';
import { decodeText } from '../syntax/load.ts';

/** Told of everything that is read: the bytes of a file, the names in a directory, null for what cannot be read. */
export type OnRead = (path: string, content: Uint8Array | readonly string[] | null) => void;

/** The files that a configuration is made of. Each is told once it has been looked for, so that it is watched. */
export class SourceFiles {
  readonly #onRead: OnRead;
  /** Everything that could be read, in the order it was first asked for. */
  readonly read = new Set<string>();
  /** Absolute path of what is written, and not to be read. */
  leaveOut: string | null = null;

  constructor(onRead: OnRead) {
    this.#onRead = onRead;
  }

  /** The text of a file. @throws Error with the reason for one that cannot be read. */
  text(path: string): string {
    const bytes = this.#tell(path, () => readRegularFile(path));
    this.read.add(path);
    return decodeText(bytes, path);
  }

  /** Resolves the path of a file that another one names: from that file's directory, else from the working directory. */
  find(path: string, from: string): string {
    const beside = isAbsolute(path) ? path : join(dirname(from), path);
    const here = normalize(path);
    if (beside === here || existsSync(beside) || !existsSync(here)) return beside;
    // Watched, because it takes precedence as soon as it exists.
    this.#onRead(beside, null);
    return here;
  }

  /** The files of a directory by their names, in their order. @throws Error with the reason. */
  list(path: string): Dirent[] {
    let entries: Dirent[] = [];
    this.#tell(path, () => {
      entries = readdirSync(path, { withFileTypes: true });
      return entries.map(({ name }) => name);
    });
    // What orchestrators and editors keep beside the files is none of them.
    const counted = entries.filter(
      ({ name }) => !name.startsWith('..') && !name.endsWith('~') && resolve(path, name) !== this.leaveOut,
    );
    return counted.sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  /** The files below a directory, as paths from it; of a symbolic link what it leads to. */
  *below(path: string, from = ''): Iterable<string> {
    for (const { name } of this.list(join(path, from))) {
      const inner = join(from, name);
      if (this.isDirectory(join(path, inner))) yield* this.below(path, inner);
      else yield inner;
    }
  }

  /** False for what is not there. */
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
      throw new Error(fileTrouble(error), { cause: error });
    }
    this.#onRead(path, content);
    return content;
  }
}

/** A mistake in what a configuration is made of. */
export function settingsError(path: string, reason: string, cause?: unknown): ConfigError {
  return new ConfigError('TEMPLATE_SETTINGS', '', `loading flexible-config settings: - ${path}: ${reason}`, { cause });
}
