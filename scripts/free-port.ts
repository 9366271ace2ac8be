import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Ports that no system gives to a connection or a server that asks for any. */
const [LOWEST, ABOVE] = [12_000, 32_000];

/** A port of the loopback interface that was free a moment ago, and that only who asks for it by its number takes. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, ABOVE);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    });
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
