import type { Duplex } from 'node:stream';
import { timerMs } from '#contract';

/** Decision about a connection: the bytes to put back into it, and the function to call afterwards. */
type Decision = { readonly bytes: Buffer; readonly done: () => void } | 'wrong' | null;

/**
 * Buffers the first bytes of a connection until `decide` has seen enough, and puts them back.
 * @param waitMs time limit for those bytes; 0 disables it. The connection is closed when it expires.
 * @param decide returns null to request more bytes; on 'wrong', the connection is closed.
 * @param expired called when the time limit closes the connection.
 */
export function readFirst(
  socket: Duplex,
  waitMs: number,
  decide: (bytes: Buffer) => Decision,
  expired?: () => void,
): void {
  let bytes: Buffer = Buffer.alloc(0);
  const expire = () => {
    expired?.();
    socket.destroy();
  };
  const timer = waitMs > 0 ? setTimeout(expire, timerMs(waitMs)) : undefined;
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
