import { Pieces } from '#contract';

/** Bytes before each message: the compression flag and the length. */
const PREFIX_BYTES = 5;

/** Encodes a message as a frame. */
export function frameOf(message: Uint8Array, isCompressed = false): Buffer {
  const frame = Buffer.allocUnsafe(PREFIX_BYTES + message.length);
  frame[0] = isCompressed ? 1 : 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, PREFIX_BYTES);
  return frame;
}

/** A received message, compressed or not. */
export interface Frame {
  readonly isCompressed: boolean;
  readonly bytes: Uint8Array;
}

/** Error for bytes that are not valid frames. */
export class FrameError extends Error {
  /** Whether the message exceeds the size limit. */
  readonly isTooLarge: boolean;

  constructor(message: string, isTooLarge = false) {
    super(message);
    this.isTooLarge = isTooLarge;
  }
}

/** Assembles messages from arbitrary chunks; buffers no more than one message. */
export class FrameReader {
  readonly #limitBytes: number;
  readonly #each: (frame: Frame) => void;
  /** Bytes received that do not form a message yet. */
  #pieces = new Pieces();
  /** Number of bytes needed before parsing can continue. */
  #wanted = PREFIX_BYTES;

  /** @param limitBytes size limit of one message. @param each receives the messages in order. */
  constructor(limitBytes: number, each: (frame: Frame) => void) {
    this.#limitBytes = limitBytes;
    this.#each = each;
  }

  /** @throws FrameError for a message that is too large, and for an unknown flag. */
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

  /** Ends the stream. @throws FrameError if a message is incomplete. */
  end(): void {
    if (this.#pieces.length > 0) throw new FrameError('a message is incomplete');
  }

  #lengthOf(bytes: Uint8Array): number {
    if (bytes[0]! > 1) throw new FrameError('the body is not a gRPC message');
    const length = bytes[1]! * 2 ** 24 + ((bytes[2]! << 16) | (bytes[3]! << 8) | bytes[4]!);
    if (length > this.#limitBytes) {
      throw new FrameError(`a message of ${length} bytes exceeds the limit of ${this.#limitBytes} bytes`, true);
    }
    return length;
  }
}
