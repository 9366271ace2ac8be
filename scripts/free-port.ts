import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Port range from which no system assigns ports automatically. */
const [LOWEST, ABOVE] = [12_000, 32_000];

/** A port of the loopback interface that was free a moment ago, and is only used when requested by number. */
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
