import { Readable } from 'node:stream';
import type { Timers } from '#kernel';

/** A stream of server-sent events to one client. */
export interface EventStream {
  readonly body: Readable;
  /** Sends text. A reader that falls too far behind is disconnected. */
  send(text: string): void;
  /** Closes the stream gracefully. */
  end(): void;
}

export interface EventStreamOptions {
  /** Called with every heartbeat; false closes the stream. */
  isPermitted(): Promise<boolean>;
  /** Called once, when the stream has ended or its reader has disconnected. */
  closed(): void;
}

/** Bytes that may be buffered for a slow reader before it is disconnected. */
const MAX_WAITING_BYTES = 1024 * 1024;

const HEARTBEAT_MS = 15_000;

/** Opens a stream; it sends a comment every 15 seconds. */
export function openEventStream({ isPermitted, closed }: EventStreamOptions, timers: Timers): EventStream {
  let isOpen = true;
  let cancelBeat = () => {};
  const leave = (): void => {
    if (!isOpen) return;
    isOpen = false;
    cancelBeat();
    closed();
  };
  const body = new Readable({
    read() {},
    destroy(error, done) {
      leave();
      done(error);
    },
  });
  const end = (): void => {
    leave();
    body.push(null);
  };
  const send = (text: string): void => {
    if (!isOpen) return;
    body.push(text);
    if (body.readableLength > MAX_WAITING_BYTES) body.destroy();
  };
  const beat = (): void => {
    cancelBeat = timers.after(HEARTBEAT_MS, async () => {
      const mayContinue = await isPermitted().catch(() => false);
      if (!isOpen) return;
      if (!mayContinue) return end();
      beat();
      send(':\n\n');
    });
  };
  beat();
  // The response headers are sent with the first bytes of the body.
  body.push(':\n\n');
  return { body, send, end };
}
