import { resolve } from 'node:path';
import type { FileRead } from '../runtime/watch/index.ts';
import type { RunningAttempt } from './running-attempt.ts';
import type { Source } from './snapshot.ts';

/** The files that can trigger a configuration change, with their content as last read. */
export class FilesToWatch {
  /** Files read by the last serving attempt and, if that failed, by the attempt before it. */
  #read: readonly FileRead[] = [];
  /**
   * Settings, templates and included files of the configuration file. They are watched even while another configuration
   * is active.
   */
  #document: readonly FileRead[] = [];

  /** Records the files of a finished attempt, unless it was a dry run. */
  note({ change, filesRead, sources }: RunningAttempt, isRefused: boolean): void {
    this.#read = joinReads(filesRead, isRefused || change.asServed ? this.#read : []);
    if (!change.asServed && typeof change.source === 'string')
      this.#document = joinReads(sources, isRefused ? this.#document : []);
  }

  /** @param source the source of the configuration. */
  listFor(source: Source): readonly FileRead[] {
    const own = typeof source === 'string' ? [{ path: source, hash: undefined }] : [];
    return joinReads(joinReads(this.#read, this.#document), own);
  }

  /** True for a file that the configuration on disk is built from. @param path absolute. */
  isOfDocument(path: string): boolean {
    return this.#document.some((file) => resolve(file.path) === path);
  }
}

/** Files that were just read, and files that only earlier attempts read, whose current content is unknown. */
function joinReads(now: readonly FileRead[], before: readonly FileRead[]): readonly FileRead[] {
  const read = new Set(now.map(({ path }) => path));
  const others = before.filter(({ path }) => !read.has(path));
  return [...now, ...others.map(({ path }) => ({ path, hash: undefined }))];
}
