import { AsyncLocalStorage } from 'node:async_hooks';
import { channel } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { timerMs } from '#contract';

const attempts = new AsyncLocalStorage<Set<Socket>>();

channel('net.client.socket').subscribe((message) => {
  const sockets = attempts.getStore();
  if (!sockets) return;
  const { socket } = message as { readonly socket: Socket };
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
});

/**
 * Connects with a library, in some time. What it has opened and not closed by then is closed: libraries give up on a server
 * that accepts and is silent, and keep its socket.
 * @param signal gives it up. @throws what `connect` throws, or Error after `timeoutMs`.
 */
export async function connectWithin<T>(timeoutMs: number, signal: AbortSignal, connect: () => Promise<T>): Promise<T> {
  const sockets = new Set<Socket>();
  let stop = () => {};
  const late = new Promise<never>((_resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no response within ${timeoutMs}ms`)), timerMs(timeoutMs));
    const abort = () => reject(new Error('given up'));
    signal.addEventListener('abort', abort, { once: true });
    stop = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    };
  });
  const connecting = attempts.run(sockets, connect);
  try {
    return await Promise.race([connecting, late]);
  } catch (error) {
    connecting.catch(() => {});
    for (const socket of sockets) socket.destroy();
    throw error;
  } finally {
    stop();
  }
}
