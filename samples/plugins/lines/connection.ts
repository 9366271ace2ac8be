import { connect, type Socket } from 'node:net';
import { BackendError, type Call } from 'sluice/plugin';

/** Longest answer, in bytes. */
const MAX_LINE_BYTES = 64 * 1024;
/** Questions that wait for their answers, of clients that have left included. */
const MAX_WAITING = 1000;

interface Waiting {
  readonly resolve: (line: string) => void;
  readonly reject: (error: Error) => void;
}

/**
 * One connection to a server that answers every line with a line, in order. It is opened when it is needed, and anew after
 * it has broken; whatever waits then fails.
 */
export class LineConnection {
  readonly #host: string;
  readonly #port: number;
  readonly #timeoutMs: number;
  #socket: Socket | null = null;
  #waiting: Waiting[] = [];
  #text = '';

  /** @param origin as in `lines://127.0.0.1:7000`. @param timeoutMs of silence after which a connection is given up. */
  constructor(origin: string, timeoutMs: number) {
    const { hostname, port } = new URL(origin);
    this.#host = hostname.replace(/^\[(.*)\]$/, '$1');
    this.#port = Number(port);
    this.#timeoutMs = timeoutMs;
  }

  /** @throws BackendError when there is no answer, CallError when the call was aborted first. */
  async ask(line: string, call: Call): Promise<string> {
    // Nothing is written then, so that the connection of a server that hangs falls silent, and is given up.
    if (this.#waiting.length >= MAX_WAITING) throw new BackendError('LINES_BUSY', 'too many requests wait');
    this.#socket ??= this.#open();
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    this.#waiting.push({ resolve, reject });
    this.#socket.write(`${line}\n`);
    // Whoever leaves keeps his place in the row: the answer comes all the same, and is nobody's.
    const cancellation = call.onCancel(reject);
    try {
      return await promise;
    } finally {
      cancellation.off();
    }
  }

  close(): void {
    this.#socket?.destroy();
  }

  #open(): Socket {
    const socket = connect({ host: this.#host, port: this.#port }).setEncoding('utf8');
    socket.setTimeout(this.#timeoutMs, () => socket.destroy(new Error(`silent for ${this.#timeoutMs} ms`)));
    socket.on('data', (chunk: unknown) => this.#take(String(chunk), socket));
    socket.once('end', () => socket.destroy());
    let cause: Error | undefined;
    socket.once('error', (error) => {
      cause = error;
    });
    socket.once('close', () => this.#broken(socket, cause));
    return socket;
  }

  #take(chunk: string, socket: Socket): void {
    const lines = (this.#text + chunk).split('\n');
    this.#text = lines.pop()!;
    for (const line of lines) this.#waiting.shift()?.resolve(line);
    if (this.#text.length > MAX_LINE_BYTES) socket.destroy(new Error(`a line longer than ${MAX_LINE_BYTES} bytes`));
  }

  #broken(socket: Socket, cause: Error | undefined): void {
    if (this.#socket !== socket) return;
    const left = this.#waiting;
    this.#socket = null;
    this.#waiting = [];
    this.#text = '';
    for (const { reject } of left)
      reject(new BackendError('LINES_BROKEN', `no answer: ${cause?.message ?? 'closed'}`, { cause }));
  }
}
