import type { Log } from '#contract';
import { GatewayError } from '../contract/internal.ts';
import { between, noTraffic } from '../pipeline/traffic/window.ts';
import { endpointId } from '../runtime/prints/endpoint-prints.ts';
import { systemTimers, type Timers } from '../runtime/watch/timers.ts';
import type { Applied, Change, Current, GuardRequest } from './change.ts';
import type { Control } from './control.ts';
import type { EventLog, EventType } from './event-log.ts';
import type { Generations } from './generations.ts';
import { defaultThresholds, type GuardedEndpoint, type GuardState, watchGuard } from './guard.ts';
import { reloadSettings } from './reload-settings.ts';
import type { RevisionStore } from './revision-store.ts';
import { ConfigText } from './snapshot.ts';
import { REMEMBERED_MS, TrafficHistory } from './traffic/traffic-history.ts';

export interface ChangeGuardOptions {
  readonly control: Control;
  readonly generations: Generations;
  readonly revisions: RevisionStore;
  readonly events: EventLog;
  readonly log: Log;
  /** Timers to use. Default: the timers of the process. */
  readonly timers?: Timers;
}

const events: Readonly<Record<GuardState['state'], Extract<EventType, `guard.${string}`>>> = {
  watching: 'guard.started',
  passed: 'guard.passed',
  undecided: 'guard.undecided',
  superseded: 'guard.superseded',
  'rolled-back': 'guard.failed',
  failed: 'guard.failed',
};

/**
 * Watches changes that requested a guard. If errors or latency of an endpoint get worse than in the minutes before, the
 * previous configuration is restored as a new revision, and the reason is recorded in the history.
 */
export class ChangeGuard {
  readonly #options: ChangeGuardOptions;
  readonly #timers: Timers;
  readonly #history: TrafficHistory;
  /** Time at which the current configuration began to serve, on the clock of the timers. */
  #servedSince = 0;
  #watching: { readonly state: GuardState; stop(): void } | null = null;
  #last: GuardState | null = null;

  constructor(options: ChangeGuardOptions) {
    this.#options = options;
    this.#timers = options.timers ?? systemTimers;
    this.#history = new TrafficHistory(() => this.#served, this.#timers);
    this.#history.start();
    options.control.onDone.push((change, applied) => this.#onDone(change, applied));
  }

  /** State of the active guard or of the last one; null before the first. */
  get state(): GuardState | null {
    return this.#last;
  }

  get #served() {
    return this.#options.generations.current.runtime.compiled.published;
  }

  #traffic() {
    return this.#served.map(({ endpoint, traffic }) => [endpointId(endpoint), traffic] as const);
  }

  /**
   * A new configuration ends the observation of the previous one. A configuration that is already active can be
   * observed only while it is recent.
   */
  #onDone(change: Change, applied: Applied): void {
    const { control } = this.#options;
    if (applied.result === 'applied') {
      this.#history.mark();
      this.#servedSince = this.#timers.now();
      this.#supersede(`it was replaced by revision ${applied.revision}`);
    }
    const guard = change.guard ?? (applied.result === 'applied' ? this.#ownRequest(change) : null);
    const ageMs = this.#timers.now() - this.#servedSince;
    if (!guard || !control.replaced || ageMs >= Math.min(guard.durationMs, REMEMBERED_MS)) return;
    this.#supersede(`attempt ${applied.attempt} started another guard`);
    this.#watch(guard, guard.durationMs - ageMs, applied, control.replaced);
  }

  /**
   * The guard that the configuration itself requests, for changes whose trigger has no parameters, such as a saved
   * file.
   */
  #ownRequest({ trigger }: Change): GuardRequest | null {
    if (trigger !== 'watch' && trigger !== 'signal' && trigger !== 'secret') return null;
    const { guardMs } = reloadSettings(this.#options.generations.current.runtime);
    return guardMs > 0 ? { durationMs: guardMs } : null;
  }

  #watch(
    { thresholds = defaultThresholds }: GuardRequest,
    leftMs: number,
    { revision, attempt }: Applied,
    replaced: Current,
  ): void {
    const known = this.#traffic().filter(([, { calls }]) => calls > 0);
    const before = new Map(known.map(([key]) => [key, this.#history.before(key, this.#servedSince)]));
    const from = new Map(
      known.map(([key, traffic]) => {
        const since = this.#history.since(key, traffic, this.#servedSince);
        return [key, between(since, traffic.snapshot())];
      }),
    );
    const endsAt = new Date(Date.now() + leftMs).toISOString();
    const state: GuardState = { state: 'watching', revision, attempt, endsAt, reason: null, rolledBackTo: null };
    const traffic = () => this.#traffic();
    const { log } = this.#options;
    const guard = watchGuard({
      durationMs: leftMs,
      thresholds,
      timers: this.#timers,
      *endpoints(): Iterable<GuardedEndpoint> {
        for (const [key, served] of traffic()) {
          const start = from.get(key) ?? noTraffic;
          if (served.calls === start.calls) continue;
          yield { key, before: before.get(key) ?? noTraffic, after: between(start, served.snapshot()) };
        }
      },
      onWorse: (reason) => this.#takeBack(state, reason, replaced),
      onPassed: () => {
        log.info(`revision ${revision} has passed its guard period`);
        this.#end(state, { state: 'passed' });
      },
      onUndecided: (calls) => {
        const reason = `${calls} calls; every endpoint had fewer than the required ${thresholds.minimumCalls}`;
        log.warning(`too little traffic for the change guard to evaluate revision ${revision}: ${reason}`);
        this.#end(state, { state: 'undecided', reason });
      },
    });
    this.#tell(state);
    this.#watching = { state, stop: guard.stop };
  }

  #takeBack(state: GuardState, reason: string, { snapshot, secrets }: Current): void {
    const { control, revisions, log } = this.#options;
    const { revision } = state;
    this.#watching = null;
    log.error(`rolling back revision ${revision}: ${reason}`);
    control
      .apply({
        trigger: 'guard',
        source: new ConfigText(snapshot.text, snapshot.format),
        secrets,
        message: `revision ${revision} was rolled back: ${reason}`,
        provided({ id }) {
          if (id !== revision) throw new GatewayError('GUARD_SUPERSEDED', `it was replaced by revision ${id}`);
        },
      })
      .then(
        async (applied) => {
          await revisions.markBad(revision, reason);
          this.#end(state, { state: 'rolled-back', reason, rolledBackTo: applied.revision });
        },
        (error: Error) => {
          if (error instanceof GatewayError && error.code === 'GUARD_SUPERSEDED') {
            log.info(`revision ${revision} is not rolled back: ${error.message}`);
            this.#end(state, { state: 'superseded', reason: error.message });
            return;
          }
          log.critical(`cannot roll back revision ${revision}: ${error.message}`);
          this.#end(state, { state: 'failed', reason: `${reason}; it cannot be rolled back: ${error.message}` });
        },
      );
  }

  #supersede(reason: string): void {
    if (!this.#watching) return;
    this.#watching.stop();
    this.#end(this.#watching.state, { state: 'superseded', reason });
  }

  #end(state: GuardState, outcome: Partial<GuardState>): void {
    if (this.#watching?.state === state) this.#watching = null;
    this.#tell({ ...state, ...outcome });
  }

  #tell(state: GuardState): void {
    const { control } = this.#options;
    const attempt = control.attempts.get(state.attempt);
    if (attempt) attempt.guard = state;
    // A late report of an earlier guard must not replace the latest state.
    if (state.attempt >= (this.#last?.attempt ?? 0)) this.#last = state;
    this.#options.events.emit(events[state.state], state);
  }

  stop(): void {
    this.#watching?.stop();
    this.#history.stop();
  }
}
