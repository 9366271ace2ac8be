import { pipeline, type Readable, Transform } from 'node:stream';
import { CallError } from './errors.ts';
import { Pieces } from './pieces.ts';

/** Default limit of request bodies that a component parses, in bytes, if the configuration sets no `max_payload`. */
export const PARSED_LIMIT_BYTES = 1024 * 1024;

/** Default limit of request bodies that a component keeps in memory, in bytes, if the configuration sets no `max_payload`. */
export const KEPT_LIMIT_BYTES = 64 * 1024 * 1024;

/** A request body above the payload limit: status 413. */
export class PayloadTooLarge extends CallError {
  constructor(limitBytes: number, reason = '') {
    super('PAYLOAD_TOO_LARGE', `request body larger than ${limitBytes} bytes${reason}`, { view: { status: 413 } });
  }
}

/** Explanation of a rejection that applies only because a component parses the body. */
const PARSED = ', the default limit for bodies that a component parses: set max_payload to change it';

/** Explanation of a rejection that applies only because a component keeps the body in memory. */
const KEPT = ', the default limit for bodies that are kept in memory: set max_payload to change it';

/**
 * Request body: a stream that can be sent once until its bytes are requested, afterwards a buffer that can be sent any
 * number of times.
 */
export class RequestBody {
  /** Length in bytes; undefined if the sender did not announce it. */
  readonly length: number | undefined;
  #stream: Readable | null;
  #bytes: Uint8Array | Promise<Uint8Array> | null;
  #limitBytes: number;
  readonly #parsedLimitBytes: number;
  #reason = '';
  #taps: ((chunk: Uint8Array) => void)[] | null = null;

  private constructor(
    stream: Readable | null,
    bytes: Uint8Array | null,
    length: number | undefined,
    limitBytes: number,
    parsedLimitBytes: number,
  ) {
    this.#parsedLimitBytes = parsedLimitBytes;
    this.#stream = stream;
    this.#bytes = bytes;
    this.#limitBytes = limitBytes;
    this.length = length;
  }

  /**
   * Creates a body that is still arriving.
   * @param limitBytes 0 disables the limit.
   * @param parsedLimitBytes limit for components that parse the body; 0 applies only `limitBytes`.
   */
  static stream(stream: Readable, length: number | undefined, limitBytes = 0, parsedLimitBytes = 0): RequestBody {
    return new RequestBody(stream, null, length, limitBytes, parsedLimitBytes);
  }

  static of(bytes: Uint8Array | string): RequestBody {
    const buffer = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
    return new RequestBody(null, buffer, buffer.length, 0, 0);
  }

  /**
   * Lowers the limit of the body; 0 changes nothing.
   * @throws PayloadTooLarge if more has been read already.
   */
  restrict(limitBytes: number): void {
    if (limitBytes === 0 || (this.#limitBytes > 0 && this.#limitBytes <= limitBytes)) return;
    this.#limitBytes = limitBytes;
    if (this.#bytes instanceof Uint8Array && this.#bytes.length > limitBytes) throw this.#tooLarge();
  }

  /**
   * Observes the bytes of the body when it is first read. The observer must not throw. It is not called if the body is
   * never read.
   */
  tap(write: (chunk: Uint8Array) => void): void {
    if (this.#bytes instanceof Uint8Array) write(this.#bytes);
    else {
      this.#taps ??= [];
      this.#taps.push(write);
    }
  }

  /** True if the announced length exceeds the limit: no byte is delivered. */
  get isTooLarge(): boolean {
    return this.#limitBytes > 0 && this.length !== undefined && this.length > this.#limitBytes;
  }

  /** Whether the stream was sent or is being read, so that it cannot be sent again. */
  get isTaken(): boolean {
    return this.#stream === null && !(this.#bytes instanceof Uint8Array);
  }

  /**
   * Returns the whole body, which the first call buffers. Limited even if the configuration sets no limit, because clients
   * could fill the memory.
   * @throws PayloadTooLarge beyond the limit. @throws CallError if the client disconnected.
   */
  bytes(): Uint8Array | Promise<Uint8Array> {
    if (this.#bytes === null && this.#limitBytes === 0 && this.#parsedLimitBytes > 0) {
      this.#limitBytes = KEPT_LIMIT_BYTES;
      this.#reason = KEPT;
    }
    this.#bytes ??= this.#collect();
    return this.#bytes;
  }

  /**
   * All bytes, for components that parse them. Limited even if the configuration sets no limit, because parsing blocks
   * every other request.
   * @throws PayloadTooLarge, CallError like `bytes`, never synchronously.
   */
  bytesToParse(): Uint8Array | Promise<Uint8Array> {
    const limitBytes = this.#parsedLimitBytes;
    if (limitBytes > 0 && (this.#limitBytes === 0 || this.#limitBytes > limitBytes)) this.#reason = PARSED;
    try {
      this.restrict(limitBytes);
    } catch (error) {
      return Promise.reject(error);
    }
    return this.bytes();
  }

  #tooLarge(): PayloadTooLarge {
    return new PayloadTooLarge(this.#limitBytes, this.#reason);
  }

  /**
   * The body to send: the bytes if they were requested, otherwise the stream, which can be taken once.
   * @throws PayloadTooLarge for a length beyond the limit.
   */
  take(): Uint8Array | Readable {
    if (this.#bytes instanceof Uint8Array) return this.#bytes;
    const stream = this.#open();
    const limitBytes = this.#limitBytes;
    return limitBytes > 0 && this.length === undefined ? pipeline(stream, limited(limitBytes), ignored) : stream;
  }

  #open(): Readable {
    const stream = this.#stream;
    if (!stream) throw new CallError('BODY_CONSUMED', 'request body was already sent');
    if (this.isTooLarge) throw this.#tooLarge();
    this.#stream = null;
    return this.#taps ? pipeline(stream, tapped(this.#taps), ignored) : stream;
  }

  async #collect(): Promise<Uint8Array> {
    const stream = this.#open();
    const pieces = new Pieces();
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      pieces.add(chunk);
      if (this.#limitBytes > 0 && pieces.length > this.#limitBytes) throw this.#tooLarge();
    }
    const bytes = pieces.join();
    this.#bytes = bytes;
    return bytes;
  }
}

function tapped(taps: readonly ((chunk: Uint8Array) => void)[]): Transform {
  return new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      for (const write of taps) write(chunk);
      done(null, chunk);
    },
  });
}

function limited(limitBytes: number): Transform {
  let length = 0;
  return new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      length += chunk.length;
      if (length > limitBytes) done(new PayloadTooLarge(limitBytes));
      else done(null, chunk);
    },
  });
}

/** Ignores the failure here, because the reader of the stream handles it. */
function ignored(): void {}
