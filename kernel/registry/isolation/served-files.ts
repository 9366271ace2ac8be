import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { FileReader } from '../loading/file-reader.ts';

/**
 * Lets a thread read files through another thread, which records them. The reading thread is blocked until each file
 * has arrived.
 */

/** Time limit for one file, in milliseconds. */
const READ_MS = 10_000;

interface Response {
  readonly bytes?: Uint8Array;
  readonly error?: { readonly message: string; readonly code: string | undefined };
}

/** Reads files in the thread that waits for them. @param lock four bytes shared by both threads. */
export function filesOver(port: MessagePort, lock: Int32Array): FileReader {
  const post = port.postMessage.bind(port);
  return {
    read(path) {
      Atomics.store(lock, 0, 0);
      post(path);
      Atomics.wait(lock, 0, 0, READ_MS);
      const { bytes, error } = (receiveMessageOnPort(port)?.message ?? {}) as Response;
      if (bytes) return bytes;
      throw Object.assign(new Error(error?.message ?? `no response for ${path}`), { code: error?.code });
    },
    list() {
      throw new Error('directories cannot be read');
    },
  };
}

/** Reads files for the thread that waits for them. */
export function serveFiles(port: MessagePort, lock: Int32Array, files: Pick<FileReader, 'read'>): void {
  const respond = (path: unknown): Response => {
    try {
      return { bytes: files.read(String(path)) };
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException;
      return { error: { message, code } };
    }
  };
  port.on('message', (path: unknown) => {
    port.postMessage(respond(path));
    Atomics.store(lock, 0, 1);
    Atomics.notify(lock, 0);
  });
}

/**
 * Files that were read before, which can be read again with the same result. Once it is sealed, no other files can be
 * read.
 */
export interface RememberedFiles extends Pick<FileReader, 'read'> {
  seal(): void;
}

export function rememberFiles(given: Pick<FileReader, 'read'>): RememberedFiles {
  let files: Pick<FileReader, 'read'> | null = given;
  const known = new Map<string, { readonly bytes?: Uint8Array; readonly error?: unknown }>();
  const attempt = (path: string) => {
    try {
      if (!files)
        throw new Error(`cannot read ${path}: only files that were read when the plugin was loaded can be read again`);
      return { bytes: files.read(path) };
    } catch (error) {
      return { error };
    }
  };
  return {
    seal() {
      files = null;
    },
    read(path) {
      const found = known.get(path) ?? attempt(path);
      known.set(path, found);
      if (!found.bytes) throw found.error;
      return found.bytes;
    },
  };
}
