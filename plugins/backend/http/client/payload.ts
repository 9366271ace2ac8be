import type { Readable } from 'node:stream';

/** Body to send. Bytes can be sent again, a stream cannot. */
export type Payload = Uint8Array | Readable | null;

const moments = ['readable', 'end', 'error', 'close'] as const;
const nothing = new Uint8Array();

/**
 * Passes on a payload once its first bytes are available or it is known to be empty; immediately if it is not a stream.
 * An empty stream is passed on as zero bytes.
 */
export function onceBegun(payload: Payload, sender: { begin(payload: Payload): void }): void {
  if (payload === null || payload instanceof Uint8Array) return sender.begin(payload);
  if (payload.readableLength > 0 || payload.readableEnded || payload.destroyed) return sender.begin(payload);
  const look = (): void => {
    const isEmpty = payload.readableEnded;
    if (payload.readableLength === 0 && !isEmpty && !payload.destroyed) {
      // Either no data has arrived yet, or the stream has ended; only a read makes the difference visible.
      payload.read(0);
      return;
    }
    for (const moment of moments) payload.off(moment, look);
    sender.begin(isEmpty ? nothing : payload);
  };
  for (const moment of moments) payload.on(moment, look);
}
