import { setTimeout as delay } from 'node:timers/promises';
import { Unreachable } from './answer.ts';
import type { AdminClient } from './client.ts';
import { readServerSentEvents, type ServerSentEvent } from './server-sent-events.ts';

export interface FollowOptions {
  /** Event types, `reload.*` for all of a kind; all when undefined. */
  readonly types: string | undefined;
  /** Begins with the remembered events behind this one; with those to come when undefined. */
  readonly after?: string;
  /** Ends it, without an error. */
  readonly signal: AbortSignal;
}

/** Pause before a stream that broke off is taken up again, in milliseconds, unless the gateway says another. */
const PAUSE_MS = 1_000;

/**
 * The events of a gateway. A stream that breaks off is taken up where it ended, as often as it takes.
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
