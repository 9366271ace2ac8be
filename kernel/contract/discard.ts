import { ByteStream } from './bytes.ts';
import { CancelledError } from './errors.ts';
import type { Reply } from './message.ts';

/** Maximum number of unwanted bytes that are read to keep a connection. */
const KEPT_BYTES = 64 * 1024;
/** Maximum time for reading unwanted bytes, in milliseconds. The deadline of the call no longer applies. */
const KEPT_MS = 1000;

/** Discards a body: a short rest is read so that the connection can be reused; a longer or slower one is aborted. */
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
