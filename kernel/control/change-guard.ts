import type { Log } from '#contract';
import { between, noTraffic, type TrafficWindow } from '../pipeline/traffic-window.ts';
import { endpointId } from '../runtime/fingerprint.ts';
import type { Applied, Change, Current, GuardWish } from './change.ts';
import type { Control } from './control.ts';
import type { EventLog } from './event-log.ts';
import type { Generations } from './generations.ts';
import { type GuardedEndpoint, type Watched, watchGuard } from './guard.ts';
import type { RevisionStore } from './revision-store.ts';
import { ConfigText } from './snapshot.ts';
import { TrafficHistory } from './traffic/traffic-history.ts';

export interface ChangeGuardOptions {
  readonly control: Control;
  readonly generations: Generations;
  readonly revisions: RevisionStore;
  readonly events: EventLog;
  readonly log: Log;
}

/**
 * Watches over changes that asked for it: when errors or latency of an endpoint get worse than in the minutes before, the
 * configuration that served before is put back, as a revision of its own, and the reason goes into the history.
 */
export class ChangeGuard {
  readonly #options: ChangeGuardOptions;
  readonly #history: TrafficHistory;
  #watching: { readonly watched: Watched; stop(): void } | null = null;

  constructor(options: ChangeGuardOptions) {
    this.#options = options;
    this.#history = new TrafficHistory(() => this.#traffic());
    this.#history.start();
    options.control.onApplied.push((change, applied) => this.#onApplied(change, applied));
  }

  /** Null when no change is watched. */
  get watched(): Watched | null {
    return this.#watching?.watched ?? null;
  }

  #traffic() {
    const { routes } = this.#options.generations.current.runtime.compiled;
    return routes.map(({ endpoint, traffic }) => [endpointId(endpoint), traffic] as const);
  }

  /** Any change ends the watch over the one before it. */
  #onApplied({ guard }: Change, applied: Applied): void {
    this.#watching?.stop();
    this.#watching = null;
    const { replaced } = this.#options.control;
    if (guard && replaced) this.#watch(guard, applied, replaced);
  }

  #watch({ durationMs, thresholds }: GuardWish, { revision, attempt }: Applied, replaced: Current): void {
    const { events, log } = this.#options;
    this.#history.rotate();
    const now = performance.now();
    const known = this.#traffic().filter(([, { calls }]) => calls > 0);
    const since = new Map<string, TrafficWindow>(known.map(([key, traffic]) => [key, traffic.snapshot()]));
    const before = new Map(known.map(([key]) => [key, this.#history.before(key, now)]));
    const watched = { revision, attempt, endsAt: Date.now() + durationMs };
    const traffic = () => this.#traffic();
    const guard = watchGuard({
      durationMs,
      ...(thresholds && { thresholds }),
      *endpoints(): Iterable<GuardedEndpoint> {
        for (const [key, served] of traffic()) {
          const from = since.get(key) ?? noTraffic;
          if (served.calls === from.calls) continue;
          yield { key, before: before.get(key) ?? noTraffic, after: between(from, served.snapshot()) };
        }
      },
      onWorse: (reason) => this.#takeBack(watched, reason, replaced),
      onPassed: () => {
        this.#watching = null;
        log.info(`configuration ${revision} has passed its guard`);
        events.emit('guard.passed', watched);
      },
    });
    this.#watching = { watched, stop: guard.stop };
    events.emit('guard.started', watched);
  }

  #takeBack(watched: Watched, reason: string, { snapshot }: Current): void {
    const { control, revisions, events, log } = this.#options;
    const { revision } = watched;
    this.#watching = null;
    log.error(`configuration ${revision} is taken back: ${reason}`);
    const source = new ConfigText(snapshot.text, snapshot.format);
    control.apply({ trigger: 'guard', source, message: `revision ${revision} was taken back: ${reason}` }).then(
      async (applied) => {
        await revisions.markBad(revision, reason);
        events.emit('guard.failed', { ...watched, reason, rolledBackTo: applied.revision });
      },
      (error: Error) => log.critical(`configuration ${revision} could not be taken back: ${error.message}`),
    );
  }

  stop(): void {
    this.#watching?.stop();
    this.#history.stop();
  }
}
