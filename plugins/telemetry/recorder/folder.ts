import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Limits of a folder. */
export interface FolderLimits {
  readonly maxFiles: number;
  readonly maxBytes: number;
}

/** Maximum number of recordings that wait to be written. */
const MAX_WAITING = 64;

/** Accessible to the gateway's own user only, because recordings contain the data of clients. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** Name of a file: time in milliseconds, so that the order of names is that of the recordings, and an ID. */
const NAME = /^\d{15}-[\da-f-]{36}\.har$/;
const TEMPORARY = /^\.\d{15}-[\da-f-]{36}\.tmp$/;

interface StoredFile {
  readonly name: string;
  readonly size: number;
}

/** A folder of HAR files, one for each recording. Other files in it are left unchanged. */
export class Folder {
  readonly #path: string;
  /** Files of the recorder, oldest first; null until the folder has been read. */
  #files: StoredFile[] | null = null;
  #bytes = 0;
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Writes a file and removes the oldest ones above the limits. Files are written one at a time.
   * @returns null if too many recordings wait to be written. Rejects with the file system's error.
   */
  add(text: string, limits: FolderLimits): Promise<void> | null {
    if (this.#waiting >= MAX_WAITING) return null;
    this.#waiting++;
    const written = this.#last
      .then(() => this.#write(text, limits))
      .finally(() => {
        this.#waiting--;
      });
    this.#last = written.catch(() => {});
    return written;
  }

  /** Resolves when everything is written. */
  close(): Promise<void> {
    return this.#last;
  }

  async #write(text: string, { maxFiles, maxBytes }: FolderLimits): Promise<void> {
    const size = Buffer.byteLength(text);
    if (size > maxBytes) return;
    this.#files ??= await this.#read();
    const stem = `${String(Date.now()).padStart(15, '0')}-${randomUUID()}`;
    const temporary = join(this.#path, `.${stem}.tmp`);
    try {
      await this.#removeOldest(this.#files, maxFiles - 1, maxBytes - size);
      await writeFile(temporary, text, { flag: 'wx', mode: FILE_MODE });
      await rename(temporary, join(this.#path, `${stem}.har`));
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => {});
      // If the folder was removed, the next recording creates it again.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') this.#files = null;
      throw error;
    }
    this.#files.push({ name: `${stem}.har`, size });
    this.#bytes += size;
  }

  async #removeOldest(files: StoredFile[], maxFiles: number, maxBytes: number): Promise<void> {
    while (files.length > maxFiles || this.#bytes > maxBytes) {
      const [oldest] = files;
      if (!oldest) return;
      await rm(join(this.#path, oldest.name), { force: true });
      files.shift();
      this.#bytes -= oldest.size;
    }
  }

  /** Finds the files of earlier runs, and removes unfinished ones. */
  async #read(): Promise<StoredFile[]> {
    await mkdir(this.#path, FOLDER_MODE).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    const files: StoredFile[] = [];
    for (const name of (await readdir(this.#path)).sort()) {
      const path = join(this.#path, name);
      if (TEMPORARY.test(name)) await rm(path, { force: true });
      else if (NAME.test(name)) files.push({ name, size: (await stat(path)).size });
    }
    this.#bytes = files.reduce((sum, { size }) => sum + size, 0);
    return files;
  }
}
