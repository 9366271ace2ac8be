import cluster from 'node:cluster';
import { chmodSync, lstatSync, unlinkSync } from 'node:fs';
import { connect, type Server } from 'node:net';
import { GatewayError } from '../../contract/internal.ts';
import { socketPath } from '../../net/address-range.ts';
import { bindErrorReason } from './plugin-port.ts';

/** Permission bits from their octal form, such as `0660`. */
export function fileMode(octal: string): number {
  return Number.parseInt(octal, 8);
}

/**
 * Listens on a Unix socket, whose file is removed when the server closes. A socket file without a listener is replaced; any other
 * file is left as it is. In a worker process, the main process must have called `freeListenAddress`.
 * @param mode permission bits of the file.
 * @throws the system's error; EADDRINUSE when the file is in use or is not a socket.
 */
export async function listenOnSocket(server: Server, path: string, mode: number, backlog?: number): Promise<void> {
  if (cluster.isPrimary) await removeStaleSocket(path);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  // The file must never be accessible to others, not even briefly; it is created within this call. For workers, the
  // main process creates it with a umask that denies others to write, which connecting requires.
  const umask = process.umask(0o777 & ~mode);
  try {
    server.listen({ path, backlog }, resolve);
  } finally {
    process.umask(umask);
  }
  await promise;
  server.off('error', reject);
  try {
    chmodSync(path, mode);
  } catch (error) {
    server.close();
    throw error;
  }
}

/**
 * Prepares a listen address for worker processes, none of which may remove the socket of another.
 * @throws GatewayError LISTEN_FAILED if the file cannot be read or removed.
 */
export async function freeListenAddress(address: string): Promise<void> {
  const path = socketPath(address);
  if (path === null) return;
  try {
    await removeStaleSocket(path);
  } catch (error) {
    const reason = bindErrorReason(error as NodeJS.ErrnoException);
    throw new GatewayError('LISTEN_FAILED', `cannot listen on ${address}: ${reason}`, error);
  }
}

/** Removes the file of a socket whose process ended without removing it. Other files, and sockets in use, stay. */
async function removeStaleSocket(path: string): Promise<void> {
  if (isSocket(path) && !(await isInUse(path))) unlinkSync(path);
}

function isSocket(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSocket() ?? false;
}

/** True unless it is certain that no process listens. */
function isInUse(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT'));
  });
}
