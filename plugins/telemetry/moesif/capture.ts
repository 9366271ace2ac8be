import { ByteStream, Pieces, type Reply } from '#contract';

/** Maximum size of a reported body, in bytes. */
export const MAX_BODY_BYTES = 256 * 1024;

/** Captures the bytes of a body as it passes; discards them all once they exceed the limit. */
export class Capture {
  #pieces: Pieces | null = new Pieces();

  readonly add = (chunk: Uint8Array): void => {
    this.#pieces?.add(chunk);
    if (this.#pieces && this.#pieces.length > MAX_BODY_BYTES) this.drop();
  };

  /** Discards the bytes, so that they are not reported. */
  drop(): void {
    this.#pieces = null;
  }

  /** Captured body; null if it was too long or incomplete. */
  get bytes(): Uint8Array | null {
    return this.#pieces?.join() ?? null;
  }
}

/** Captures the body of a reply as it is written. */
export function captureReply({ body }: Reply, capture: Capture): void {
  if (body instanceof Uint8Array) capture.add(body);
  else if (body instanceof ByteStream) {
    body.tap({ write: capture.add, end() {}, fail: () => capture.drop() });
  }
}
