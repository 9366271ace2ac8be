import { followStream } from './follow-stream.ts';

/** An event of the gateway. */
export interface GatewayEvent {
  readonly id: number;
  readonly type: string;
  readonly data: unknown;
  /** Time of the event, in milliseconds since 1970. */
  readonly at: number;
}

/**
 * Follows the events of the gateway until the signal aborts, and reconnects after a lost connection.
 * @param onConnected called with whether the stream is connected.
 */
export function followEvents(
  onEvent: (event: GatewayEvent) => void,
  onConnected: (connected: boolean) => void,
  signal: AbortSignal,
): Promise<void> {
  let last = 0;
  let at = Number.NaN;
  return followStream(
    '/v1/events',
    () => ({ headers: { 'Last-Event-ID': String(last) } }),
    {
      onMessage({ id, event, data }) {
        last = Number(id);
        onEvent({ id: last, type: event ?? 'message', data: JSON.parse(data), at: Number.isNaN(at) ? Date.now() : at });
      },
      onComment(comment) {
        at = Date.parse(comment);
      },
      onConnected,
    },
    signal,
  );
}
