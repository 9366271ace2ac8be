import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A client that writes the given bytes and records the response. */
export interface RawClient {
  readonly socket: Socket;
  /** The bytes received so far. */
  readonly received: string;
  write(bytes: string | Uint8Array): void;
  /** Waits until the received text satisfies a condition. */
  until(passes: (received: string) => boolean): Promise<void>;
  /** Waits for the end of the connection and returns all received bytes. */
  ended(): Promise<string>;
}

/** Text is written as Latin-1, one byte per character. */
export async function openRaw(port: number): Promise<RawClient> {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  let over = false;
  let check = (): void => {};
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
    check();
  });
  socket.on('error', () => {});
  socket.once('close', () => {
    over = true;
    check();
  });
  await once(socket, 'connect');
  const waitFor = (passes: () => boolean, what: string): Promise<void> =>
    new Promise((resolve, reject) => {
      check = () => {
        if (passes()) resolve();
        else if (over) reject(new Error(`connection ended before ${what}: ${JSON.stringify(received)}`));
      };
      check();
    });
  return {
    socket,
    get received() {
      return received;
    },
    write: (bytes) => void socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes),
    until: (passes) => waitFor(() => passes(received), 'the answer was there'),
    ended: async () => {
      await waitFor(() => over, 'its end');
      return received;
    },
  };
}

/** Sends bytes on a separate connection and returns everything received until it ends. */
export async function sendRaw(port: number, bytes: string | Uint8Array): Promise<string> {
  const client = await openRaw(port);
  client.write(bytes);
  return client.ended();
}

/** The statuses of the responses in a text, in order. */
export function statusesOf(received: string): number[] {
  return Array.from(received.matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, status]) => Number(status));
}
