import { randomUUID } from 'node:crypto';
import { open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

const BYTE_ORDER_MARK = '\ufeff';

/** Replacement text stored next to the file that it will replace, on the same disk. */
export interface Draft {
  /** New content of the file, including its byte order mark, if it has one. */
  readonly content: string;
  /** Replaces the file atomically. @throws the system's error; the file is then unchanged. */
  commit(): Promise<void>;
  abort(): Promise<void>;
}

/**
 * Writes a text to a file atomically: readers see the old file or the new one, never a part. Follows symbolic links,
 * keeps mode and byte order mark, and does not write an unchanged file.
 * @param newMode mode of a file that does not exist yet. Default: as usual for the user.
 * @returns true if the file was written. @throws the system's error; the file is then unchanged.
 */
export async function replaceFile(path: string, text: string, newMode?: number): Promise<boolean> {
  const draft = await draftFile(path, text, newMode);
  await draft?.commit();
  return draft !== null;
}

/** Prepares a `replaceFile`: everything except the replacement itself. @returns null if nothing would change. */
export async function draftFile(path: string, text: string, newMode?: number): Promise<Draft | null> {
  const target = await realpath(path).catch(ifMissing(path));
  const old = await readFile(target, 'utf8').catch(ifMissing(null));
  const content = old?.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK + text : text;
  if (content === old) return null;
  const mode = old === null ? undefined : (await stat(target)).mode & 0o7777;
  const draft = join(dirname(target), `.${basename(target)}.${randomUUID()}`);
  const abort = () => rm(draft, { force: true });
  const orAbort = async (task: () => Promise<void>): Promise<void> => {
    try {
      await task();
    } catch (error) {
      // An error of `abort` is ignored because it would hide the original error, and usually has the same cause.
      await abort().catch(() => {});
      throw error;
    }
  };
  await orAbort(() => writeDraft(draft, content, mode ?? newMode ?? 0o666 & ~process.umask()));
  return { content, commit: () => orAbort(() => rename(draft, target)), abort };
}

async function writeDraft(path: string, content: string, mode: number): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.chmod(mode);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Error handler that returns a fallback if the file does not exist. */
function ifMissing<T>(instead: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === 'ENOENT') return instead;
    throw error;
  };
}
