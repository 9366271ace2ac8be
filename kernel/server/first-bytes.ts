import type { Duplex } from 'node:stream';
import { timerMs } from '#contract';

/** Ready: the bytes to put back, and what to do then. */
type Decision = { readonly bytes: Buffer; readonly done: () => void } | 'wrong' | null;

/**
 * Gathers the first bytes of a connection until they say enough, and puts them back.
 * @param waitMs for those bytes; 0 for no limit. Beyond it the connection is closed.
 * @param decide null for more bytes; a connection with the wrong ones is closed.
 */
export function readFirst(socket: Duplex, waitMs: number, decide: (bytes: Buffer) => Decision): void {
  let bytes: Buffer = Buffer.alloc(0);
  const timer = waitMs > 0 ? setTimeout(() => socket.destroy(), timerMs(waitMs)) : undefined;
  const stop = () => {
    clearTimeout(timer);
    socket.off('readable', look);
    socket.off('close', stop);
  };
  const look = () => {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) {
      if (socket.readableEnded) socket.destroy();
      return;
    }
    bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
    const decision = decide(bytes);
    if (decision === null) return;
    stop();
    if (decision === 'wrong') {
      socket.destroy();
      return;
    }
    socket.unshift(decision.bytes);
    decision.done();
  };
  const ended = () => socket.destroy();
  socket.on('readable', look);
  socket.once('end', ended);
  socket.once('close', stop);
}
