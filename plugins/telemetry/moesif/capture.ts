import { ByteStream, type Reply } from '#contract';

/** Longest body that is reported, in bytes. */
export const MAX_BODY_BYTES = 256 * 1024;

/** The bytes of a body as they passed; nothing once they are too many. */
export class Capture {
  #chunks: Uint8Array[] | null = [];
  #length = 0;

  readonly add = (chunk: Uint8Array): void => {
    if (this.#chunks === null) return;
    this.#length += chunk.length;
    if (this.#length > MAX_BODY_BYTES) this.drop();
    else this.#chunks.push(chunk);
  };

  /** The bytes are not reported. */
  drop(): void {
    this.#chunks = null;
  }

  /** Null for a body that is too long or did not come to its end. */
  get bytes(): Uint8Array | null {
    return this.#chunks && Buffer.concat(this.#chunks, this.#length);
  }
}

/** Sees the body of a reply as it is written. */
export function captureReply({ body }: Reply, capture: Capture): void {
  if (body instanceof Uint8Array) capture.add(body);
  else if (body instanceof ByteStream) {
    body.tap({ write: capture.add, end() {}, fail: () => capture.drop() });
  }
}
