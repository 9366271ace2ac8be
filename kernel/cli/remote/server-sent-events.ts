import { createParser } from 'eventsource-parser';

/** An event of a `text/event-stream`. */
export interface ServerSentEvent {
  /** Of this event, or the last one before it that had one; empty before the first. */
  readonly id: string;
  readonly type: string;
  readonly data: string;
}

/**
 * Reads a `text/event-stream`. An event that its end cuts off is none.
 * @param onRetry told how long to wait before the next connection, in milliseconds.
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
