import { Pieces } from '#contract';

/** Bytes before each message: whether it is compressed, and its length. */
const PREFIX_BYTES = 5;

/** A message as it travels. */
export function frameOf(message: Uint8Array, isCompressed = false): Buffer {
  const frame = Buffer.allocUnsafe(PREFIX_BYTES + message.length);
  frame[0] = isCompressed ? 1 : 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, PREFIX_BYTES);
  return frame;
}

/** A message that came, compressed or not. */
export interface Frame {
  readonly isCompressed: boolean;
  readonly bytes: Uint8Array;
}

/** Why bytes are no row of messages. */
export class FrameError extends Error {
  /** The message is longer than allowed. */
  readonly isTooLarge: boolean;

  constructor(message: string, isTooLarge = false) {
    super(message);
    this.isTooLarge = isTooLarge;
  }
}

/** Puts messages together from chunks that are cut anywhere; holds no more than one message. */
export class FrameReader {
  readonly #limitBytes: number;
  readonly #each: (frame: Frame) => void;
  /** What has come and is not yet a message. */
  #pieces = new Pieces();
  /** Bytes to wait for before anything can be said. */
  #wanted = PREFIX_BYTES;

  /** @param limitBytes of one message. @param each takes them in order. */
  constructor(limitBytes: number, each: (frame: Frame) => void) {
    this.#limitBytes = limitBytes;
    this.#each = each;
  }

  /** @throws FrameError for a message that is too large, and for a flag that does not exist. */
  write(chunk: Uint8Array): void {
    this.#pieces.add(chunk);
    if (this.#pieces.length < this.#wanted) return;
    let bytes = this.#pieces.join();
    this.#pieces = new Pieces();
    while (bytes.length >= PREFIX_BYTES) {
      const length = this.#lengthOf(bytes);
      if (bytes.length < PREFIX_BYTES + length) {
        this.#wanted = PREFIX_BYTES + length;
        this.#pieces.add(bytes);
        return;
      }
      const rest = bytes.subarray(PREFIX_BYTES + length);
      this.#each({ isCompressed: bytes[0] === 1, bytes: bytes.subarray(PREFIX_BYTES, PREFIX_BYTES + length) });
      bytes = rest;
    }
    this.#wanted = PREFIX_BYTES;
    if (bytes.length > 0) this.#pieces.add(bytes);
  }

  /** All bytes have come. @throws FrameError where a message broke off. */
  end(): void {
    if (this.#pieces.length > 0) throw new FrameError('a message broke off');
  }

  #lengthOf(bytes: Uint8Array): number {
    if (bytes[0]! > 1) throw new FrameError('no gRPC message');
    const length = bytes[1]! * 2 ** 24 + ((bytes[2]! << 16) | (bytes[3]! << 8) | bytes[4]!);
    if (length > this.#limitBytes) {
      throw new FrameError(`a message of ${length} bytes, and ${this.#limitBytes} are allowed`, true);
    }
    return length;
  }
}
