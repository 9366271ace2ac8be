import { read } from 'node:fs';
import { BackendError, ByteStream } from '#contract';
import { closeFile } from './open-file.ts';

/** Largest file that is read at once; larger files are streamed. */
const WHOLE_BYTES = 64 * 1024;

/** Time for which a client can read nothing of a file, in milliseconds. */
const STALL_MS = 60_000;

/**
 * Reads the bytes of an open file, from `start` (inclusive) to `end` (exclusive); always closes it.
 * @param stallMs maximum pause of a reader, in milliseconds.
 */
export function readBytes(
  fd: number,
  start: number,
  end: number,
  stallMs = STALL_MS,
): Promise<Uint8Array> | ByteStream {
  return end - start <= WHOLE_BYTES ? readWhole(fd, start, end - start) : readAsTaken(fd, start, end, stallMs);
}

async function readWhole(fd: number, start: number, length: number): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafe(length);
  try {
    let at = 0;
    while (at < length) {
      const count = await readAt(fd, bytes.subarray(at), start + at);
      if (count === 0) throw shorter();
      at += count;
    }
    return bytes;
  } finally {
    closeFile(fd);
  }
}

function readAt(fd: number, into: Uint8Array, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    read(fd, into, 0, into.length, position, (error, count) => (error ? reject(error) : resolve(count)));
  });
}

/** Error for a file that became shorter: its length has already been sent. */
function shorter(): BackendError {
  return new BackendError('FILE_CHANGED', 'the file was truncated while it was read');
}

function readAsTaken(fd: number, start: number, end: number, stallMs: number): ByteStream {
  let position = start;
  let isReading = false;
  let isOver = false;
  let stall: NodeJS.Timeout | undefined;
  const stream = new ByteStream({
    resume() {
      clearTimeout(stall);
      advance();
    },
    cancel: () => finish(),
  });

  /** The file stays open until no read is pending, because another file could get the same descriptor number. */
  const finish = (): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(stall);
    if (!isReading) closeFile(fd);
  };
  const giveUp = (error: Error): void => {
    finish();
    stream.fail(error);
  };
  const advance = (): void => {
    if (isReading || isOver) return;
    isReading = true;
    const chunk = Buffer.allocUnsafe(Math.min(WHOLE_BYTES, end - position));
    read(fd, chunk, 0, chunk.length, position, (error, count) => {
      isReading = false;
      if (isOver) closeFile(fd);
      else if (error || count === 0) giveUp(error ?? shorter());
      else pass(chunk.subarray(0, count));
    });
  };
  const pass = (chunk: Uint8Array): void => {
    position += chunk.length;
    const isWanted = stream.write(chunk);
    if (isOver) return;
    if (position === end) {
      finish();
      stream.end();
    } else if (isWanted) advance();
    else stall = setTimeout(() => giveUp(new BackendError('FILE_STALLED', 'the read was canceled')), stallMs);
  };

  advance();
  return stream;
}
