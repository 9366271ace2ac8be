import { Readable } from 'node:stream';
import type { GatewayEvent, Operations, Timers } from '#kernel';
import { appliedBody } from '../applied-body.ts';
import { attemptProblem } from '../problem-document.ts';

/** Subscription of a client to events. */
export interface EventRequest {
  /** Id of the last event that the client has received; without it, only new events are sent. */
  readonly after?: number;
  /** Types of the events to send. Default: all. */
  readonly types?: readonly string[];
  /** Called with every heartbeat; false closes the stream. */
  isPermitted(): Promise<boolean>;
}

/** Open streams of server-sent events. */
export interface EventStreams {
  /** Opens a stream. A reader that falls too far behind is disconnected. */
  open(wish: EventRequest): Readable;
  /** Closes all streams gracefully. */
  close(): void;
}

/** Bytes that may be buffered for a slow reader before it is disconnected. */
const MAX_WAITING_BYTES = 1024 * 1024;

const HEARTBEAT_MS = 15_000;

export function openEventStreams(gateway: Operations, timers: Timers): EventStreams {
  const endings = new Set<() => void>();
  return {
    open(wish) {
      let cancelBeat = () => {};
      let unsubscribe = () => {};
      const stream = new Readable({
        read() {},
        destroy(error, done) {
          leave();
          done(error);
        },
      });
      const leave = (): void => {
        endings.delete(end);
        unsubscribe();
        cancelBeat();
      };
      const end = (): void => {
        leave();
        stream.push(null);
      };
      /** Sending remembered events at once may exceed the limit, which therefore applies only to later events. */
      let live = false;
      const send = (text: string): void => {
        stream.push(text);
        if (live && stream.readableLength > MAX_WAITING_BYTES) stream.destroy();
      };
      const beat = (): void => {
        cancelBeat = timers.after(HEARTBEAT_MS, async () => {
          const isPermitted = await wish.isPermitted().catch(() => false);
          if (!endings.has(end)) return;
          if (!isPermitted) return end();
          beat();
          send(':\n\n');
        });
      };
      endings.add(end);
      beat();
      // An empty comment is sent, because the response headers are only sent with the first bytes of the body.
      send(':\n\n');
      unsubscribe = gateway.events.subscribe(wish, (event) => send(frame(event, gateway)));
      live = true;
      return stream;
    },
    close() {
      for (const end of endings) end();
    },
  };
}

/** An event; its time is in a comment, which clients of server-sent events ignore. */
function frame(event: GatewayEvent, gateway: Operations): string {
  const time = new Date(event.at).toISOString();
  return `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(viewOf(event, gateway))}\n: ${time}\n\n`;
}

/** Returns event data in the form in which other operations of the API return the same data. */
function viewOf({ type, data }: GatewayEvent, gateway: Operations): unknown {
  if (type === 'reload.succeeded') return appliedBody(data, gateway);
  if (type === 'reload.failed') return attemptProblem(data);
  return data;
}
