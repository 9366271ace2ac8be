import type { Log } from '#contract';
import type { Ask } from '../ask.ts';

/** Gateways that are remembered at most. */
const MAX_INSTANCES = 10_000;

/** A gateway that wants to be told. */
interface Instance {
  readonly name: string;
  /** Where it listens, as in `http://10.0.0.7:1234`. */
  readonly origin: string;
  /** Changes when the gateway starts anew. */
  readonly run: string;
  seenAt: number;
  /** It has missed something: it needs everything. */
  isBehind: boolean;
}

/** How many were told, and how many of them could not be. */
export interface Told {
  readonly instances: number;
  readonly failed: number;
}

/** How instances are told. */
export interface Pushing {
  readonly ask: Ask;
  readonly workers: number;
  readonly retries: number;
  /** After which an instance that was not heard of is forgotten, in milliseconds. */
  readonly patienceMs: number;
}

/** The gateways that a revoke server knows, by their addresses. */
export class Instances {
  readonly #known = new Map<string, Instance>();

  /** @param now milliseconds, as all that follow. */
  list(now: number): { id: string; name: string; seen_ms_ago: number }[] {
    return [...this.#known].map(([id, { name, seenAt }]) => ({ id, name, seen_ms_ago: Math.round(now - seenAt) }));
  }

  /** @returns false when it was not known. */
  forget(id: string): boolean {
    return this.#known.delete(id);
  }

  forgetSilent(patienceMs: number, now: number, log: Log): void {
    for (const [id, { seenAt, name }] of this.#known) {
      if (now - seenAt <= patienceMs) continue;
      this.#known.delete(id);
      log.warning(`${name} at ${id} has not reported for ${Math.round(patienceMs / 1000)}s and was removed`);
    }
  }

  /** @returns the instance's address where it needs everything; null otherwise, undefined when there are too many. */
  heard(name: string, host: string, port: number, run: string, now: number): string | null | undefined {
    const id = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    const known = this.#known.get(id);
    if (known && known.run === run) {
      known.seenAt = now;
      return known.isBehind ? id : null;
    }
    if (!known && this.#known.size >= MAX_INSTANCES) return undefined;
    this.#known.set(id, { name, origin: `http://${id}`, run, seenAt: now, isBehind: true });
    return id;
  }

  /**
   * Tells one instance everything.
   * @param pack makes a set of what is revoked now.
   * @returns why it has it not; null when it has.
   */
  async complete(
    id: string,
    pack: () => Promise<Uint8Array>,
    pushing: Pushing,
    signal: AbortSignal,
  ): Promise<string | null> {
    const instance = this.#known.get(id);
    if (!instance) return 'it was forgotten';
    const { ask, retries } = pushing;
    // What is added from now on is sent to it besides: where that fails it is behind again.
    instance.isBehind = false;
    const trouble = await tell(ask, new URL('/union', instance.origin), await pack(), retries, signal);
    if (trouble !== null) instance.isBehind = true;
    return trouble;
  }

  /** Tells all of them, some at a time. */
  async push(body: Uint8Array, { ask, workers, retries }: Pushing, signal: AbortSignal): Promise<Told> {
    const waiting = [...this.#known.values()];
    const instances = waiting.length;
    let failed = 0;
    const work = async () => {
      for (let one = waiting.pop(); one; one = waiting.pop()) {
        if ((await tell(ask, new URL('/add', one.origin), body, retries, signal)) === null) continue;
        one.isBehind = true;
        failed++;
      }
    };
    await Promise.all(Array.from({ length: Math.min(workers, instances) }, work));
    return { instances, failed };
  }
}

/** @returns why it could not be told; null when it was. */
async function tell(
  ask: Ask,
  url: URL,
  body: Uint8Array,
  retries: number,
  signal: AbortSignal,
): Promise<string | null> {
  let trouble = 'given up';
  for (let attempt = 0; attempt <= Math.max(0, retries) && !signal.aborted; attempt++) {
    try {
      const status = await ask(url, body, signal);
      if (status === 200) return null;
      trouble = `status ${status}`;
    } catch (error) {
      trouble = (error as Error).message;
    }
  }
  return trouble;
}
