import { ByteStream } from './bytes.ts';
import type { Reply } from './message.ts';
import { Pieces } from './pieces.ts';

/** Captures the bytes of a body as it passes; discards them all once they exceed the limit. */
export class Capture {
  #pieces: Pieces | null = new Pieces();
  readonly limitBytes: number;
  /** Number of bytes that have passed. */
  length = 0;
  /** Whether the body has passed completely. */
  isComplete = false;

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }

  readonly add = (chunk: Uint8Array): void => {
    this.length += chunk.length;
    this.#pieces?.add(chunk);
    if (this.isTooLong) this.drop();
  };

  get isTooLong(): boolean {
    return this.length > this.limitBytes;
  }

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
  if (body instanceof ByteStream) {
    const end = () => {
      capture.isComplete = true;
    };
    body.tap({ write: capture.add, end, fail: () => capture.drop() });
    return;
  }
  if (body) capture.add(body);
  capture.isComplete = true;
}
