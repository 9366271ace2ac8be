import { type Histogram, type Log, meterOf, type Site } from '#contract';

/** Synchronous time of one call from which on it is told, in milliseconds: nobody else was served meanwhile. */
const LONG_MS = 50;
/** The shortest time between two such lines of one handler, in milliseconds. */
const QUIET_MS = 1000;

/** Time that code inside the running hook has taken, which is not the hook's own. */
let elsewhereMs = 0;

/** Measures how long the calls of one handler keep the event loop, without what they call in turn. */
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
        description: 'Time during which calls of plugins blocked the event loop.',
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

/** Runs what is not the own time of the hook that calls it. */
export function elsewhere<T>(run: () => T): T {
  const outerMs = elsewhereMs;
  const startedAt = performance.now();
  try {
    return run();
  } finally {
    elsewhereMs = outerMs + performance.now() - startedAt;
  }
}
