import { pipeline, type Readable, Transform } from 'node:stream';
import { CallError } from './errors.ts';
import { Pieces } from './pieces.ts';

/** Longest request body that a component parses where the configuration sets no `max_payload`, in bytes. */
export const PARSED_LIMIT_BYTES = 1024 * 1024;

/** A request body over the payload limit: 413. */
export class PayloadTooLarge extends CallError {
  constructor(limitBytes: number, reason = '') {
    super('PAYLOAD_TOO_LARGE', `request body larger than ${limitBytes} bytes${reason}`, { view: { status: 413 } });
  }
}

/** Why a body is refused that would pass if no component parsed it. */
const PARSED = ', the default limit for bodies that a component parses: set max_payload to change it';

/**
 * The body of a request. Until somebody asks for its bytes it is a stream that can be sent on once; after that it is
 * a buffer that can be sent any number of times.
 */
export class RequestBody {
  /** Length in bytes; undefined when the sender did not say. */
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
   * A body still on its way.
   * @param limitBytes 0 for no limit.
   * @param parsedLimitBytes limit for components that parse it; 0 for none but `limitBytes`.
   */
  static stream(stream: Readable, length: number | undefined, limitBytes = 0, parsedLimitBytes = 0): RequestBody {
    return new RequestBody(stream, null, length, limitBytes, parsedLimitBytes);
  }

  static of(bytes: Uint8Array | string): RequestBody {
    const buffer = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
    return new RequestBody(null, buffer, buffer.length, 0, 0);
  }

  /**
   * Holds the body to a smaller limit than before; 0 changes nothing.
   * @throws PayloadTooLarge when more of it has been read already.
   */
  restrict(limitBytes: number): void {
    if (limitBytes === 0 || (this.#limitBytes > 0 && this.#limitBytes <= limitBytes)) return;
    this.#limitBytes = limitBytes;
    if (this.#bytes instanceof Uint8Array && this.#bytes.length > limitBytes) throw this.#tooLarge();
  }

  /**
   * Lets somebody see the bytes as they are read, once, by whoever reads them; nothing where nobody does. Must not throw.
   */
  tap(write: (chunk: Uint8Array) => void): void {
    if (this.#bytes instanceof Uint8Array) write(this.#bytes);
    else {
      this.#taps ??= [];
      this.#taps.push(write);
    }
  }

  /** The sender has said that it is longer than allowed: nobody gets any of it. */
  get isTooLarge(): boolean {
    return this.#limitBytes > 0 && this.length !== undefined && this.length > this.#limitBytes;
  }

  /** Its stream was taken, or is being read: it cannot be sent once more. */
  get isTaken(): boolean {
    return this.#stream === null && !(this.#bytes instanceof Uint8Array);
  }

  /**
   * All bytes; buffered at the first call, the same bytes at each further one.
   * @throws PayloadTooLarge beyond the limit. @throws CallError when the client broke off.
   */
  bytes(): Uint8Array | Promise<Uint8Array> {
    this.#bytes ??= this.#collect();
    return this.#bytes;
  }

  /**
   * All bytes, for a component that parses them: they are limited although the configuration sets no limit, since parsing
   * holds up every other request.
   * @throws PayloadTooLarge, CallError as `bytes` does, never at once.
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
   * What to send: the bytes once they were asked for, else the stream itself, which can be taken once.
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

/** The failure reaches whoever reads the stream. */
function ignored(): void {}
