import type { Http2ServerRequest, ServerHttp2Session } from 'node:http2';

/** Flow-control window of a connection, in bytes. */
const CONNECTION_WINDOW_BYTES = 1024 * 1024;
/** Unread bytes of all request bodies of a connection beyond which its client must wait. */
const UNREAD_BYTES = 4 * 1024 * 1024;
/** Received bytes after which the unread ones are counted again. */
const COUNT_EVERY_BYTES = 128 * 1024;
/** Interval between two counts while the client waits, in milliseconds. */
const HELD_MS = 20;
/** Bytes that a waiting client can send at first. Node.js then opens the window of the connection completely. */
const FIRST_BYTES = 1024;

/**
 * Limits the unread request bodies of a connection. Node.js opens the window of a connection again for each frame, read
 * or not, so a client could fill the windows of all its requests. Beyond the limit, the window stays closed until half of
 * the bodies has been read. A single unread request never closes it, as the window of a request is smaller.
 */
export class UnreadBodies {
  readonly #session: ServerHttp2Session;
  readonly #requests = new Set<Http2ServerRequest>();
  #uncounted = 0;
  /**
   * Bytes by which the window was reduced. When the window grows, the client is notified only of the growth beyond
   * them.
   */
  #reduced = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(session: ServerHttp2Session) {
    this.#session = session;
    session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
    session.once('close', () => clearTimeout(this.#timer));
  }

  /** Counts the body of a request. */
  add(request: Http2ServerRequest): void {
    const { stream } = request;
    const { push } = stream;
    this.#requests.add(request);
    stream.once('close', () => this.#requests.delete(request));
    stream.push = (chunk: Uint8Array | null, encoding?: BufferEncoding) => {
      if (chunk !== null) this.#received(chunk.length);
      return push.call(stream, chunk, encoding);
    };
  }

  #received(bytes: number): void {
    this.#uncounted += bytes;
    if (this.#uncounted < COUNT_EVERY_BYTES) return;
    this.#uncounted = 0;
    if (this.#timer === undefined && !this.#session.destroyed && this.#unreadBytes() > UNREAD_BYTES) this.#hold();
  }

  #unreadBytes(): number {
    let bytes = 0;
    for (const request of this.#requests) bytes += request.readableLength + request.stream.readableLength;
    return bytes;
  }

  /** Closes the flow-control window of the connection. The client can still send the bytes that remained in the window. */
  #hold(): void {
    this.#session.setLocalWindowSize(0);
    this.#reduced += CONNECTION_WINDOW_BYTES;
    const look = (): void => {
      if (this.#session.destroyed) return;
      if (this.#unreadBytes() > UNREAD_BYTES / 2) this.#timer!.refresh();
      else this.#release();
    };
    this.#timer = setTimeout(look, HELD_MS);
  }

  #release(): void {
    this.#timer = undefined;
    this.#session.setLocalWindowSize(this.#reduced + FIRST_BYTES);
    this.#session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
    this.#reduced += FIRST_BYTES - CONNECTION_WINDOW_BYTES;
    // Node.js sends the changed window only together with another frame.
    this.#session.ping(() => {});
  }
}
