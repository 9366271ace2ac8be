import { setTimeout as delay } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import { type AdminClient, Unreachable } from './client.ts';

export interface FollowOptions {
  /** Event types, `reload.*` for all of a kind; undefined for all. */
  readonly types: string | undefined;
  /** Event ID after which to start with stored events; undefined for future events only. */
  readonly after?: string;
  /** Signal that ends the event stream, without an error. */
  readonly signal: AbortSignal;
}

/** Pause before reconnecting a broken stream, in milliseconds, unless the gateway specifies another. */
const PAUSE_MS = 1_000;

/**
 * Returns the events of a gateway. A broken stream is resumed where it ended, as often as necessary.
 * @throws Unreachable when the first connection fails; Refused.
 */
export async function* followEvents(client: AdminClient, options: FollowOptions): AsyncGenerator<ServerSentEvent> {
  const { types, signal } = options;
  let last = options.after;
  let pauseMs = PAUSE_MS;
  for (let hasAnswered = false; !signal.aborted; ) {
    try {
      const request = { path: '/v1/events', query: { types }, headers: { 'last-event-id': last } };
      const bytes = await client.open(request, signal);
      hasAnswered = true;
      for await (const event of readServerSentEvents(bytes, (ms) => (pauseMs = ms))) {
        last = event.id || last;
        yield event;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Unreachable) || !hasAnswered) throw error;
    }
    await delay(pauseMs, undefined, { signal }).catch(() => {});
  }
}

/** An event of a `text/event-stream`. */
export interface ServerSentEvent {
  /** ID of this event, or of the last one before it that had one; empty before the first. */
  readonly id: string;
  readonly type: string;
  readonly data: string;
}

/**
 * Parses a `text/event-stream`. An incomplete event at its end is discarded.
 * @param onRetry receives the time to wait before the next connection, in milliseconds.
 */
export async function* readServerSentEvents(
  bytes: AsyncIterable<Uint8Array>,
  onRetry: (pauseMs: number) => void,
): AsyncGenerator<ServerSentEvent> {
  let last = '';
  const read: ServerSentEvent[] = [];
  const parser = createParser({
    onEvent({ id = last, event = 'message', data }) {
      last = id;
      read.push({ id, type: event, data });
    },
    onRetry,
  });
  const decoder = new TextDecoder();
  for await (const chunk of bytes) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* read.splice(0);
  }
}
