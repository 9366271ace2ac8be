import { connect, type Socket } from 'node:net';

/** One complete response. */
export interface Answered {
  readonly status: number;
  readonly body: Buffer;
  /** True when the server closes the connection after the response. */
  readonly closes: boolean;
}

/**
 * A connection that sends the given bytes, one by one if needed, and reads one response after another. It has its own
 * parser, so that no layer between the test and the wire repairs, retries or hides anything.
 */
export class Connection {
  readonly #socket: Socket;
  #buffer: Buffer = Buffer.alloc(0);
  #ended: Error | null = null;
  #wake: (() => void) | null = null;

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.on('data', (chunk) => {
      this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk]);
      this.#wake?.();
    });
    this.#socket.on('error', (error) => this.#end(error));
    this.#socket.on('close', () => this.#end(new Error('the connection was closed')));
  }

  #end(error: Error): void {
    this.#ended ??= error;
    this.#wake?.();
  }

  send(text: string | Uint8Array): void {
    this.#socket.write(text);
  }

  /** Pauses or resumes reading from the network. */
  pause(paused: boolean): void {
    if (paused) this.#socket.pause();
    else this.#socket.resume();
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Waits for the next response. @throws when the connection ends before it is complete. */
  async answer(): Promise<Answered> {
    const head = (await this.#upTo('\r\n\r\n')).toString('latin1');
    const status = Number(head.split(' ', 2)[1]);
    const closes = /\r\nconnection: close/i.test(head);
    const length = /\r\ncontent-length: (\d+)/i.exec(head);
    const body = length ? await this.#take(Number(length[1])) : await this.#chunks();
    return { status, body, closes };
  }

  /** Waits for the head of a response whose body does not end. @returns its status code. */
  async head(): Promise<number> {
    return Number((await this.#upTo('\r\n\r\n')).toString('latin1').split(' ', 2)[1]);
  }

  /** The next chunk of a chunked body; null at its end. */
  async chunk(): Promise<Buffer | null> {
    const size = Number.parseInt((await this.#upTo('\r\n')).toString('latin1'), 16);
    const chunk = await this.#take(size);
    await this.#take(2);
    return size === 0 ? null : chunk;
  }

  async #chunks(): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for (let chunk = await this.chunk(); chunk !== null; chunk = await this.chunk()) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  async #upTo(mark: string): Promise<Buffer> {
    for (let at = this.#buffer.indexOf(mark); ; at = this.#buffer.indexOf(mark)) {
      if (at >= 0) return this.#cut(at + mark.length).subarray(0, at);
      await this.#more();
    }
  }

  async #take(length: number): Promise<Buffer> {
    while (this.#buffer.length < length) await this.#more();
    return this.#cut(length);
  }

  #cut(length: number): Buffer {
    const taken = this.#buffer.subarray(0, length);
    this.#buffer = this.#buffer.subarray(length);
    return taken;
  }

  async #more(): Promise<void> {
    if (this.#ended) throw this.#ended;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = null;
  }
}
