import { createParser } from 'eventsource-parser';
import { send } from './client.ts';

/** An event of the gateway. */
export interface GatewayEvent {
  readonly id: number;
  readonly type: string;
  readonly data: unknown;
  /** Time of the event, in milliseconds since 1970. */
  readonly at: number;
}

const RETRY_MS = 2000;

/**
 * Follows the events of the gateway until the signal aborts, and reconnects after a lost connection.
 * @param onConnected called with whether the stream is connected.
 */
export async function followEvents(
  onEvent: (event: GatewayEvent) => void,
  onConnected: (connected: boolean) => void,
  signal: AbortSignal,
): Promise<void> {
  let last = 0;
  let at = Number.NaN;
  const parser = createParser({
    onEvent({ id, event, data }) {
      last = Number(id);
      onEvent({ id: last, type: event ?? 'message', data: JSON.parse(data), at: Number.isNaN(at) ? Date.now() : at });
    },
    onComment(comment) {
      at = Date.parse(comment);
    },
  });
  while (!signal.aborted) {
    try {
      const response = await send('/v1/events', { headers: { 'Last-Event-ID': String(last) }, signal });
      onConnected(true);
      await readText(response, (text) => parser.feed(text));
    } catch {
      // Shown by `onConnected`; the next attempt follows.
    }
    parser.reset();
    if (signal.aborted) return;
    onConnected(false);
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

async function readText(response: Response, onText: (text: string) => void): Promise<void> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    onText(value);
  }
}
