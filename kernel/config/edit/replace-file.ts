import { randomUUID } from 'node:crypto';
import { open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

const BYTE_ORDER_MARK = '\ufeff';

/** A text beside the file it is to replace, on the same disk. */
export interface Draft {
  /** What the file will hold, with the byte order mark it has. */
  readonly content: string;
  /** Puts it in the place of the file, in one step. @throws the system's error; the file is then as it was. */
  commit(): Promise<void>;
  abort(): Promise<void>;
}

/**
 * Writes a text to a file in one step: readers see the old file or the new one, never half of it. Symbolic links are
 * followed, mode and byte order mark are kept, and what would not change is not written.
 * @returns true when it was written. @throws the system's error; the file is then as it was.
 */
export async function replaceFile(path: string, text: string): Promise<boolean> {
  const draft = await draftFile(path, text);
  await draft?.commit();
  return draft !== null;
}

/** The first half of `replaceFile`: all but putting it in place. @returns null when nothing would change. */
export async function draftFile(path: string, text: string): Promise<Draft | null> {
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
      await abort();
      throw error;
    }
  };
  await orAbort(() => writeDraft(draft, content, mode ?? 0o666 & ~process.umask()));
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

/** Takes the place of a file that is not there. */
function ifMissing<T>(instead: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === 'ENOENT') return instead;
    throw error;
  };
}
