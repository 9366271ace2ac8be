import { HeaderBag, Reply } from '#contract';
import { listDirectory } from './directory-list.ts';
import type { FilePath } from './file-path.ts';
import { replyWithFile } from './file-reply.ts';
import { closeFile, type Opened, openBelow } from './open-file.ts';

/** What is asked for below a directory, and how. */
export interface FileRequest extends FilePath {
  /** Headers that count: conditions and ranges. */
  readonly asked: HeaderBag;
  readonly isHead: boolean;
  /** Where the client finds a directory whose path lacks its slash; null to answer with the directory itself. */
  readonly location: string | null;
  /** A file that is longer, in bytes, is refused with 413. Default: none is. */
  readonly maxBytes?: number;
}

/** Nothing is sent. */
export interface Refusal {
  readonly status: 403 | 404 | 413;
  /** What the file system has said, where that is for the operator. */
  readonly error?: Error;
}

const notFound: Refusal = { status: 404 };

/**
 * Answers with what stands below a directory at this moment: a file, the `index.html` of a directory, or the list of its
 * entries.
 * @param root the directory, absolute or relative to the working directory.
 * @param lists directories without `index.html` are listed.
 * @throws the error of the file system for anything but what is missing or unreadable.
 */
export async function serveFile(root: string, lists: boolean, request: FileRequest): Promise<Reply | Refusal> {
  const opened = await openBelow(root, request.names);
  if (opened.kind !== 'directory') return request.isDirectory ? refuseFile(opened) : replyWith(opened, request);
  if (!request.isDirectory && request.location !== null) {
    return Reply.raw(301, new HeaderBag(['Location', request.location]), null);
  }
  const index = await openBelow(root, [...request.names, 'index.html']);
  if (index.kind === 'file' || index.kind === 'unreadable') return replyWith(index, request);
  return lists ? replyWithList(opened.path, request) : notFound;
}

/** A file is no directory. */
function refuseFile(opened: Opened): Refusal {
  if (opened.kind === 'file') closeFile(opened.file.fd);
  return refusalOf(opened);
}

function refusalOf(opened: Opened): Refusal {
  return opened.kind === 'unreadable' ? { status: 403, error: opened.error } : notFound;
}

function replyWith(opened: Opened, { asked, isHead, maxBytes }: FileRequest): Promise<Reply> | Refusal {
  if (opened.kind !== 'file') return refusalOf(opened);
  const { file } = opened;
  if (maxBytes === undefined || file.size <= maxBytes) return replyWithFile(file, asked, isHead);
  closeFile(file.fd);
  return { status: 413, error: new Error(`${file.name} has ${file.size} bytes: at most ${maxBytes} are decoded`) };
}

async function replyWithList(path: string, { isHead }: FileRequest): Promise<Reply> {
  const page = Buffer.from(await listDirectory(path));
  const headers = new HeaderBag(['Content-Type', 'text/html; charset=utf-8', 'Content-Length', String(page.length)]);
  return Reply.raw(200, headers, isHead ? null : page);
}
