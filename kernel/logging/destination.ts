import { fstatSync, write, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';
import type { LogDestination } from '#contract';

/** Longest wait, at exit, for a reader to accept the remaining lines, in milliseconds. */
const EXIT_WAIT_MS = 500;

/** Destination that writes to a Node.js stream: a pipe, a socket, a terminal. Errors, including EPIPE, only lose the lines. */
export function toStream(stream: Writable & { isTTY?: boolean }, fd?: number): LogDestination {
  // The listener is added once, regardless of how many gateways of this process write to the stream.
  if (!stream.listeners('error').includes(ignore)) stream.on('error', ignore);
  return {
    terminal: stream.isTTY === true,
    write: (bytes, done) => {
      stream.write(bytes, done);
    },
    ...(fd !== undefined && { writeSync: (bytes: Uint8Array) => writeAll(fd, bytes) }),
  };
}

/** Destination that writes to an open file on the thread pool, so that a slow disk does not block the event loop. */
export function toFile(fd: number): LogDestination {
  return {
    write: (bytes, done) => writeOn(fd, bytes, done),
    writeSync: (bytes) => writeAll(fd, bytes),
  };
}

/** Destination that writes to standard output (1) or standard error (2), of any file type. */
export function toStandard(fd: 1 | 2): LogDestination {
  if (isFile(fd)) return toFile(fd);
  return toStream(fd === 1 ? process.stdout : process.stderr, fd);
}

function isFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile();
  } catch {
    return false;
  }
}

function writeOn(fd: number, bytes: Uint8Array, done: (error?: Error | null) => void): void {
  write(fd, bytes, (error, written) => {
    if (error || written >= bytes.length) done(error);
    else writeOn(fd, bytes.subarray(written), done);
  });
}

/** Writes all bytes synchronously. Stops if the reader has disconnected, or does not accept them in time. */
function writeAll(fd: number, bytes: Uint8Array): void {
  let left = bytes;
  const giveUpAt = performance.now() + EXIT_WAIT_MS;
  while (left.length > 0) {
    try {
      left = left.subarray(writeSync(fd, left));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || performance.now() > giveUpAt) return;
      Atomics.wait(pauser, 0, 0, 2);
    }
  }
}

const pauser = new Int32Array(new SharedArrayBuffer(4));

function ignore(): void {}
