import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { ApiError, type SendOptions, send } from './client.ts';

/** Listeners of a stream. */
export interface StreamListeners {
  readonly onMessage: (message: EventSourceMessage) => void;
  /** Called with the text of a comment. */
  readonly onComment?: (comment: string) => void;
  /** Called with whether the stream is connected. */
  readonly onConnected: (connected: boolean) => void;
  /** Called when the gateway rejects the request; another attempt follows. */
  readonly onRefused?: (error: ApiError) => void;
}

const RETRY_MS = 2000;

/**
 * Reads a stream of server-sent events until the signal aborts, and reconnects after a lost connection.
 * @param options of each attempt.
 */
export async function followStream(
  path: string,
  options: () => Pick<SendOptions, 'query' | 'headers'>,
  { onMessage, onComment, onConnected, onRefused }: StreamListeners,
  signal: AbortSignal,
): Promise<void> {
  const parser = createParser({ onEvent: onMessage, ...(onComment && { onComment }) });
  while (!signal.aborted) {
    try {
      const response = await send(path, { ...options(), signal });
      onConnected(true);
      await readText(response, (text) => parser.feed(text));
    } catch (error) {
      // Otherwise `onConnected` shows it; the next attempt follows.
      if (error instanceof ApiError && error.status > 0) onRefused?.(error);
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
