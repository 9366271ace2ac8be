import type { Readable } from 'node:stream';

/** What is sent: bytes can be sent again, a stream cannot. */
export type Payload = Uint8Array | Readable | null;
