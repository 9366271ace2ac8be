import type { Readable } from 'node:stream';
import type { GatewayEvent, Operations, Timers } from '#kernel';
import { appliedBody } from '../applied-body.ts';
import { attemptProblem } from '../problem-document.ts';
import { type EventStream, openEventStream } from './event-stream.ts';

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

export function openEventStreams(gateway: Operations, timers: Timers): EventStreams {
  const streams = new Set<EventStream>();
  return {
    open(wish) {
      let unsubscribe = () => {};
      const stream = openEventStream(
        {
          isPermitted: () => wish.isPermitted(),
          closed() {
            streams.delete(stream);
            unsubscribe();
          },
        },
        timers,
      );
      streams.add(stream);
      /** Sending remembered events at once may exceed the limit, which therefore applies only to later events. */
      let live = false;
      unsubscribe = gateway.events.subscribe(wish, (event) => {
        const text = frame(event, gateway);
        if (live) stream.send(text);
        else stream.body.push(text);
      });
      live = true;
      return stream.body;
    },
    close() {
      for (const stream of streams) stream.end();
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
