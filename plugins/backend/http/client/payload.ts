import type { Readable } from 'node:stream';

/** What is sent: bytes can be sent again, a stream cannot. */
export type Payload = Uint8Array | Readable | null;

const moments = ['readable', 'end', 'error', 'close'] as const;
const nothing = new Uint8Array();

/**
 * Hands a payload over once bytes of it are there to be sent, or it is known that none will come: at once, unless it is a
 * stream. A stream that ends without a byte is handed over as no bytes.
 */
export function onceBegun(payload: Payload, sender: { begin(payload: Payload): void }): void {
  if (payload === null || payload instanceof Uint8Array) return sender.begin(payload);
  if (payload.readableLength > 0 || payload.readableEnded || payload.destroyed) return sender.begin(payload);
  const look = (): void => {
    const isEmpty = payload.readableEnded;
    if (payload.readableLength === 0 && !isEmpty && !payload.destroyed) {
      // No data yet, or the end of the stream, which its reader sees.
      payload.read(0);
      return;
    }
    for (const moment of moments) payload.off(moment, look);
    sender.begin(isEmpty ? nothing : payload);
  };
  for (const moment of moments) payload.on(moment, look);
}
