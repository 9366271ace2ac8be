import { HeaderBag, Reply } from '#contract';
import { listDirectory } from './directory-list.ts';
import type { FilePath } from './file-path.ts';
import { replyWithFile } from './file-reply.ts';
import { closeFile, type Opened, openBelow } from './open-file.ts';

/** A request for a path below a directory. */
export interface FileRequest extends FilePath {
  /** Conditional and range headers of the request. */
  readonly requested: HeaderBag;
  readonly isHead: boolean;
  /** Redirect target for a directory whose path lacks the trailing slash; null to serve the directory directly. */
  readonly location: string | null;
  /** Largest file, in bytes; larger files are rejected with 413. Default: no limit. */
  readonly maxBytes?: number;
}

/** A rejected request; no file is sent. */
export interface Refusal {
  readonly status: 403 | 404 | 413 | 500;
  /** File system error, if it concerns the operator. */
  readonly error?: Error;
}

const notFound: Refusal = { status: 404 };

/**
 * Serves what currently exists at a path below a directory: a file, the `index.html` of a directory, or the list of its
 * entries.
 * @param root the directory, absolute or relative to the working directory.
 * @param lists lists directories without `index.html`.
 * @returns status 500 when the file system fails, such as without a free file descriptor.
 */
export async function serveFile(root: string, lists: boolean, request: FileRequest): Promise<Reply | Refusal> {
  try {
    return await serve(root, lists, request);
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) return { status: 500, error };
    throw error;
  }
}

async function serve(root: string, lists: boolean, request: FileRequest): Promise<Reply | Refusal> {
  const opened = await openBelow(root, request.names);
  if (opened.kind !== 'directory') return request.isDirectory ? refuseFile(opened) : replyWith(opened, request);
  if (!request.isDirectory && request.location !== null) {
    return Reply.raw(301, new HeaderBag(['Location', request.location]), null);
  }
  const index = await openBelow(root, [...request.names, 'index.html']);
  if (index.kind === 'file' || index.kind === 'unreadable') return replyWith(index, request);
  return lists ? replyWithList(opened.path, request) : notFound;
}

/** Rejects a path that ends with a slash, which cannot be a file. */
function refuseFile(opened: Opened): Refusal {
  if (opened.kind === 'file') closeFile(opened.file.fd);
  return refusalOf(opened);
}

function refusalOf(opened: Opened): Refusal {
  return opened.kind === 'unreadable' ? { status: 403, error: opened.error } : notFound;
}

function replyWith(opened: Opened, { requested, isHead, maxBytes }: FileRequest): Promise<Reply> | Refusal {
  if (opened.kind !== 'file') return refusalOf(opened);
  const { file } = opened;
  if (maxBytes === undefined || file.size <= maxBytes) return replyWithFile(file, requested, isHead);
  closeFile(file.fd);
  return { status: 413, error: new Error(`${file.name} has ${file.size} bytes: at most ${maxBytes} are decoded`) };
}

async function replyWithList(path: string, { isHead }: FileRequest): Promise<Reply> {
  const page = Buffer.from(await listDirectory(path));
  const headers = new HeaderBag(['Content-Type', 'text/html; charset=utf-8', 'Content-Length', String(page.length)]);
  return Reply.raw(200, headers, isHead ? null : page);
}
