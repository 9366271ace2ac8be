import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { SourceRevision } from '#contract';
import { makeDirectory } from '../values/make-directory.ts';

/** The revision in a copy, without its files. */
export interface CopiedRevision {
  readonly version: string;
  readonly order: number | null;
  /** SHA-256 of all files and their names. */
  readonly hash: string;
  /** Name of the configuration among the files. */
  readonly main: string;
  /** Time at which it was read, in milliseconds since 1970. */
  readonly readAt: number;
}

/** Number of copies that are kept: attempts of this and other gateways may still read earlier ones. */
const KEPT = 5;

/** Directory of a revision. */
const NAME = /^r-\d{1,15}-[\da-f]{8}$/;

/**
 * The last revision of a source, in a directory: `current` is a symbolic link to `r-<number>-<random>`, which has the
 * files and what is known of them. The link is replaced as a whole, so a reader finds all files of one revision.
 */
export class SourceCopy {
  readonly directory: string;
  #current: CopiedRevision | null = null;

  constructor(directory: string) {
    this.directory = directory;
  }

  /** The revision of the copy; null without one. */
  get current(): CopiedRevision | null {
    return this.#current;
  }

  /** Path of the configuration. Remains the same for all revisions whose configuration has the same name. */
  get file(): string {
    return join(this.directory, 'current', 'files', this.#current!.main);
  }

  /** True if the copy has exactly these files. */
  holds(files: SourceRevision['files']): boolean {
    return this.#current !== null && hashOf(files) === this.#current.hash;
  }

  /** Reads what an earlier process has left. A damaged copy counts as none. @throws the error of the file system if the directory cannot be created. */
  async open(): Promise<void> {
    await makeDirectory(this.directory);
    try {
      const target = await readlink(join(this.directory, 'current'));
      const known = JSON.parse(await readFile(join(this.directory, target, 'revision.json'), 'utf8')) as CopiedRevision;
      const files = await readFiles(join(this.directory, target, 'files'), known.main);
      this.#current = hashOf(files) === known.hash ? known : null;
    } catch {
      this.#current = null;
    }
  }

  /** Replaces the copy. @returns false if the files are the same. @throws the error of the file system. */
  async write({ version, order, files }: SourceRevision, readAt: number): Promise<boolean> {
    const hash = hashOf(files);
    const before = this.#current;
    const known: CopiedRevision = { version, order, hash, main: mainOf(files), readAt };
    const isNew = hash !== before?.hash;
    if (isNew) await this.#writeFiles(files, known);
    else if (version !== before.version || order !== before.order) {
      await this.#writeKnown(join(this.directory, 'current'), known);
    }
    this.#current = known;
    return isNew;
  }

  /** The names are unique, because gateways with the same state directory can read the same source. */
  async #writeFiles(files: SourceRevision['files'], known: CopiedRevision): Promise<void> {
    const [latest] = latestFirst(await readdir(this.directory));
    const name = `r-${latest === undefined ? 1 : numberOf(latest) + 1}-${randomBytes(4).toString('hex')}`;
    const draft = join(this.directory, `.${name}`);
    try {
      for (const [path, content] of files) {
        const target = join(draft, 'files', path);
        await mkdir(dirname(target), { recursive: true, mode: 0o700 });
        await writeFile(target, content, { mode: 0o600, flush: true });
      }
      await this.#writeKnown(draft, known);
      await rename(draft, join(this.directory, name));
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      throw error;
    }
    const link = `${draft}.link`;
    await symlink(name, link);
    await rename(link, join(this.directory, 'current'));
    await this.#prune(name);
  }

  async #writeKnown(directory: string, known: CopiedRevision): Promise<void> {
    const draft = join(directory, `.revision-${randomBytes(4).toString('hex')}.json`);
    await writeFile(draft, JSON.stringify(known), { mode: 0o600, flush: true });
    await rename(draft, join(directory, 'revision.json'));
  }

  /** Removes all but the latest revisions, and the drafts of a process that was killed. */
  async #prune(current: string): Promise<void> {
    // Read once: what other gateways store from here on is kept.
    const names = await readdir(this.directory);
    const kept = new Set([current, ...latestFirst(names).slice(0, KEPT)]);
    const isUnused = (name: string) =>
      NAME.test(name) ? !kept.has(name) : name.startsWith('.r-') && numberOf(name) < numberOf(current) - KEPT;
    // Directories that remain are removed with the next revision.
    await Promise.all(
      names
        .filter(isUnused)
        .map((name) => rm(join(this.directory, name), { recursive: true, force: true }).catch(() => {})),
    );
  }
}

/** Names of stored revisions, the latest first. */
function latestFirst(names: readonly string[]): string[] {
  return names.filter((name) => NAME.test(name)).sort((one, other) => numberOf(other) - numberOf(one));
}

function numberOf(name: string): number {
  return Number(/\d+/.exec(name)![0]);
}

/** Reads all files of a directory, the main one first. */
async function readFiles(directory: string, main: string): Promise<Map<string, Uint8Array>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));
  const ordered = [main, ...paths.filter((path) => path !== main)];
  return new Map(
    await Promise.all(ordered.map(async (path) => [path, await readFile(join(directory, path))] as const)),
  );
}

function hashOf(files: SourceRevision['files']): string {
  const hash = createHash('sha256').update(JSON.stringify(mainOf(files)));
  for (const [path, content] of [...files].sort(([one], [other]) => (one < other ? -1 : 1))) {
    hash.update(JSON.stringify([path, content.length])).update(content);
  }
  return hash.digest('hex');
}

function mainOf(files: SourceRevision['files']): string {
  return files.keys().next().value!;
}
