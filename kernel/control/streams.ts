import { timerMs } from '#contract';
import type { Route } from '../pipeline/compile/route.ts';
import type { StreamLease } from '../pipeline/traffic/stream-lease.ts';
import { endpointId, endpointPrint } from '../runtime/prints/endpoint-prints.ts';
import { difference } from '../values/difference.ts';

interface Held {
  readonly id: string;
  /** Identity of the endpoint's configuration: equal for identical endpoints. */
  readonly meaning: string;
  ending: NodeJS.Timeout | null;
}

/**
 * Streams whose configuration has been replaced. A stream continues as long as the serving configuration has its
 * endpoint unchanged; otherwise it is ended in an orderly way after a while.
 */
export class Streams {
  readonly #held = new Map<StreamLease, Held>();

  /** Adds the streams of a replaced configuration and checks all of them again. @param drainMs how long streams of changed endpoints continue. */
  follow(replaced: readonly Route[], serving: readonly Route[], drainMs: number): void {
    // An unchanged endpoint is represented by the same object in both configurations, so its streams continue.
    const [gone] = difference(replaced, serving);
    for (const { hold, endpoint } of gone) {
      if (hold.streams === 0 || this.#held.has(hold)) continue;
      this.#held.set(hold, { id: endpointId(endpoint), meaning: endpointPrint(endpoint), ending: null });
    }
    this.#forgetEnded();
    if (this.#held.size === 0) return;
    const endpoints = new Map(serving.map(({ endpoint }) => [endpointId(endpoint), endpoint]));
    for (const [hold, held] of this.#held) {
      const endpoint = endpoints.get(held.id);
      const isSame = endpoint !== undefined && endpointPrint(endpoint) === held.meaning;
      if (isSame) stopEnding(held);
      else held.ending ??= setTimeout(() => hold.end(), timerMs(drainMs)).unref();
    }
  }

  /** Number of active streams. */
  get size(): number {
    let streams = 0;
    for (const hold of this.#held.keys()) streams += hold.streams;
    return streams;
  }

  /** Streams that are open after a reload, by endpoint. @param serving the current routes; their streams are included. */
  byEndpoint(serving: readonly Route[]): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    const count = (id: string, { streams }: StreamLease): void => {
      if (streams > 0) counts.set(id, (counts.get(id) ?? 0) + streams);
    };
    for (const { endpoint, hold } of serving) count(endpointId(endpoint), hold);
    for (const [hold, { id, ending }] of this.#held) if (ending === null) count(id, hold);
    return counts;
  }

  /** Called when the gateway closes: ends upgraded connections and long-lived responses in an orderly way. */
  endLasting(): void {
    for (const hold of this.#held.keys()) hold.endLasting();
  }

  /** Cancels all timers that would end streams. */
  close(): void {
    for (const held of this.#held.values()) stopEnding(held);
    this.#held.clear();
  }

  #forgetEnded(): void {
    for (const [hold, held] of this.#held) {
      if (hold.streams > 0) continue;
      stopEnding(held);
      this.#held.delete(hold);
    }
  }
}

function stopEnding(held: Held): void {
  clearTimeout(held.ending ?? undefined);
  held.ending = null;
}
