import { Readable } from 'node:stream';
import type { GatewayEvent, Operations, Timers } from '#kernel';
import { appliedBody } from '../applied-body.ts';
import { attemptProblem } from '../problem-document.ts';

/** What a client wants to be told. */
export interface EventRequest {
  /** Id of the last event it knows; without it only what is to come. */
  readonly after?: number;
  /** As of `Subscription`. */
  readonly types?: readonly string[];
  /** Called with every heartbeat; false closes the stream. */
  isPermitted(): Promise<boolean>;
}

/** Streams of server-sent events under way. */
export interface EventStreams {
  /** Begins one. A reader that falls too far behind is cut off. */
  open(wish: EventRequest): Readable;
  /** Ends all of them in order. */
  close(): void;
}

/** Bytes that wait for a slow reader before it is cut off. */
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
      /** What is remembered comes all at once: no reader could keep up with it. */
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
      // The head of the response leaves with the first bytes of its body.
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

function frame(event: GatewayEvent, gateway: Operations): string {
  return `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(viewOf(event, gateway))}\n\n`;
}

/** What the API answers elsewhere, too, is told as it is there. */
function viewOf({ type, data }: GatewayEvent, gateway: Operations): unknown {
  if (type === 'reload.succeeded') return appliedBody(data, gateway);
  if (type === 'reload.failed') return attemptProblem(data);
  return data;
}
