import { connect, type Socket } from 'node:net';
import { BackendError, type Call } from 'sluice/plugin';

/** Maximum length of a response, in bytes. */
const MAX_LINE_BYTES = 64 * 1024;
/** Maximum number of pending requests, including those of disconnected clients. */
const MAX_WAITING = 1000;

interface Waiting {
  readonly resolve: (line: string) => void;
  readonly reject: (error: Error) => void;
}

/**
 * One connection to a server that responds to every line with a line, in order. It is opened on demand, and again after
 * a failure, which rejects all pending requests.
 */
export class LineConnection {
  readonly #host: string;
  readonly #port: number;
  readonly #timeoutMs: number;
  #socket: Socket | null = null;
  #waiting: Waiting[] = [];
  #text = '';

  /** @param origin as in `lines://127.0.0.1:7000`. @param timeoutMs silence after which the connection is closed. */
  constructor(origin: string, timeoutMs: number) {
    const { hostname, port } = new URL(origin);
    this.#host = hostname.replace(/^\[(.*)\]$/, '$1');
    this.#port = Number(port);
    this.#timeoutMs = timeoutMs;
  }

  /** @throws BackendError if the server does not respond, CallError if the call is aborted first. */
  async ask(line: string, call: Call): Promise<string> {
    // If the queue is full, nothing is written. If the server hangs, the connection is then idle, and its timeout
    // closes it.
    if (this.#waiting.length >= MAX_WAITING) throw new BackendError('LINES_BUSY', 'too many requests wait');
    this.#socket ??= this.#open();
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    this.#waiting.push({ resolve, reject });
    this.#socket.write(`${line}\n`);
    // A canceled call keeps its place in the queue: its response still arrives, and is dropped.
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
      reject(new BackendError('LINES_BROKEN', `no response: ${cause?.message ?? 'closed'}`, { cause }));
  }
}
