import { ByteStream, Pieces, type Reply } from '#contract';

/** Longest body that is reported, in bytes. */
export const MAX_BODY_BYTES = 256 * 1024;

/** The bytes of a body as they passed; nothing once they are too many. */
export class Capture {
  #pieces: Pieces | null = new Pieces();

  readonly add = (chunk: Uint8Array): void => {
    this.#pieces?.add(chunk);
    if (this.#pieces && this.#pieces.length > MAX_BODY_BYTES) this.drop();
  };

  /** The bytes are not reported. */
  drop(): void {
    this.#pieces = null;
  }

  /** Null for a body that is too long or did not come to its end. */
  get bytes(): Uint8Array | null {
    return this.#pieces?.join() ?? null;
  }
}

/** Sees the body of a reply as it is written. */
export function captureReply({ body }: Reply, capture: Capture): void {
  if (body instanceof Uint8Array) capture.add(body);
  else if (body instanceof ByteStream) {
    body.tap({ write: capture.add, end() {}, fail: () => capture.drop() });
  }
}
