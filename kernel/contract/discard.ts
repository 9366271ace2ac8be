import { ByteStream } from './bytes.ts';
import { CancelledError } from './errors.ts';
import type { Reply } from './message.ts';

/** Bytes of an unwanted rest that are read to keep its connection. */
const KEPT_BYTES = 64 * 1024;
/** Longest wait for such a rest, in milliseconds: the call it belongs to is over, so nothing else bounds it. */
const KEPT_MS = 1000;

/**
 * Nobody wants a body: a short rest is read and thrown away, so that its connection can be used again; a longer or a
 * slower one is aborted.
 */
export function discard(body: Reply['body']): void {
  if (!(body instanceof ByteStream) || body.arrived) return;
  const giveUp = (): void => {
    clearTimeout(timer);
    body.cancel(new CancelledError());
  };
  const timer = setTimeout(giveUp, KEPT_MS).unref();
  const over = (): void => clearTimeout(timer);
  let left = KEPT_BYTES;
  body.flow({
    write(chunk) {
      left -= chunk.length;
      if (left < 0) giveUp();
      return true;
    },
    end: over,
    fail: over,
  });
}
