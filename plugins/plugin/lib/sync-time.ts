import { type Histogram, type Log, meterOf, type Site } from '#contract';

/** Synchronous time of one call from which it is reported, in milliseconds: it blocks all other requests. */
const LONG_MS = 50;
/** Minimum interval between two reports about one handler, in milliseconds. */
const QUIET_MS = 1000;

/** Time in the running hook that was spent in other code, in milliseconds. */
let elsewhereMs = 0;

/** Measures how long the calls of one handler block the event loop, excluding the code that they call. */
export class SyncTime {
  readonly #name: string;
  readonly #log: Log;
  readonly #histogram: Histogram | null;
  readonly #attributes: { readonly plugin: string; readonly kind: string };
  #reportedAt = Number.NEGATIVE_INFINITY;

  constructor(site: Site<unknown>, kind: string, name: string) {
    this.#name = `${kind} "${name}"`;
    this.#log = site.log;
    this.#histogram =
      meterOf(site)?.histogram('plugin.sync.duration', {
        description: 'Time during which plugin calls blocked the event loop.',
        unit: 's',
      }) ?? null;
    this.#attributes = { plugin: name, kind };
  }

  /** Runs a hook of the handler. */
  run<T>(hook: () => T): T {
    const outerMs = elsewhereMs;
    elsewhereMs = 0;
    const startedAt = performance.now();
    try {
      return hook();
    } finally {
      const wholeMs = performance.now() - startedAt;
      this.#note(wholeMs - elsewhereMs);
      elsewhereMs = outerMs + wholeMs;
    }
  }

  #note(ownMs: number): void {
    this.#histogram?.record(ownMs / 1000, this.#attributes);
    if (ownMs < LONG_MS) return;
    const now = performance.now();
    if (now - this.#reportedAt < QUIET_MS) return;
    this.#reportedAt = now;
    this.#log.warning(`${this.#name} blocked the event loop for ${Math.round(ownMs)} ms: no other request was served`);
  }
}

/** Runs code whose time does not count as the calling hook's own. */
export function elsewhere<T>(run: () => T): T {
  const outerMs = elsewhereMs;
  const startedAt = performance.now();
  try {
    return run();
  } finally {
    elsewhereMs = outerMs + performance.now() - startedAt;
  }
}
