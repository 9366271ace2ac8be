import { chmodSync, lstatSync, unlinkSync } from 'node:fs';
import { connect, type Server } from 'node:net';

/** Only the user of this process may connect. */
const MODE = 0o600;

/**
 * Listens on a Unix socket. A socket file without a listener is replaced; any other file is left as it is.
 * @throws the system's error; EADDRINUSE when the file is in use or is not a socket.
 */
export async function listenOnSocket(server: Server, path: string): Promise<void> {
  if (isSocket(path) && !(await isInUse(path))) unlinkSync(path);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  // The file must never be accessible to others, not even briefly; it is created within this call.
  const umask = process.umask(0o777 & ~MODE);
  try {
    server.listen({ path }, resolve);
  } finally {
    process.umask(umask);
  }
  await promise;
  server.off('error', reject);
  chmodSync(path, MODE);
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
