import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError, type ListenAddress } from '#contract';
import { ConfigErrors, GatewayError, runAs } from '../../contract/internal.ts';
import type { Attempt } from '../../control/attempts.ts';
import type { Next } from '../../control/participant.ts';
import { Refusal } from '../../control/refusal.ts';
import type { ShadowFindings, ShadowReport, ShadowSkipped, ShadowState } from '../../control/shadow-report.ts';
import type { Operations } from '../../gateway/operations.ts';
import type { Timers } from '../../runtime/watch/timers.ts';
import type { SampleBatch } from '../../server/exchange/sample.ts';
import { type RehearsalChild, startRehearsalChild } from '../rehearsal/rehearsal-child.ts';
import { sent } from '../rehearsal/sent-configuration.ts';
import type { SampleOutcome, ShadowOrder } from './candidate.ts';

/** The members of a gateway that shadow runs use. */
export interface ShadowingGateway
  extends Pick<Operations, 'apply' | 'events' | 'serving' | 'status' | 'rehearsals' | 'log'> {
  readonly processes: Pick<Operations['processes'], 'port' | 'sample'>;
}

export interface ShadowSettings {
  /** Time for which requests are copied, in milliseconds. */
  readonly durationMs: number;
  /** Fraction of the safe requests to copy, above 0 and at most 1. */
  readonly sample: number;
  /** Sends requests with methods other than GET and HEAD to backends, too. */
  readonly sendsAnyMethod: boolean;
}

/** Time limit of building both configurations, in milliseconds. */
const START_MS = 60_000;

/** Interval at which findings are read, and the longest wait for them, in milliseconds. */
const READ_MS = 1000;
const SILENT_MS = 30_000;

/** Longest wait for samples in progress at the end, in milliseconds. */
const SETTLE_MS = 10_000;

/** Time after which a sample counts as lost, in milliseconds: two requests with their time limits, and a reserve. */
const SAMPLE_MS = 60_000;

/** Maximum number of samples in progress, of all processes together. */
const MAX_HELD = 128;

const nothing: ShadowFindings = {
  compared: 0,
  different: 0,
  unstable: 0,
  refused: 0,
  refusals: [],
  changes: [],
  hidden: 0,
  cpuMs: 0,
};

type Counts = { -readonly [K in keyof ShadowSkipped]: number };

/** One shadow run, from the process of its candidate to its report. */
export class ShadowRun {
  /** Resolves with the final report. */
  readonly ended: Promise<ShadowReport>;
  readonly #gateway: ShadowingGateway;
  readonly #settings: ShadowSettings;
  readonly #timers: Timers;
  readonly #skipped: Counts = { busy: 0, incomplete: 0, unsuitable: 0, budget: 0, limited: 0 };
  readonly #settle: (report: ShadowReport) => void;
  #child: RehearsalChild | null = null;
  #attempt: Attempt | null = null;
  #report: ShadowReport | null = null;
  /** Revision whose responses are compared. */
  #revision = 0;
  #held = 0;
  #isEnding = false;
  /** Releases everything that belongs to the time of sampling. */
  #releases: (() => void)[] = [];

  constructor(gateway: ShadowingGateway, settings: ShadowSettings, timers: Timers) {
    this.#gateway = gateway;
    this.#settings = settings;
    this.#timers = timers;
    const { promise, resolve } = Promise.withResolvers<ShadowReport>();
    this.ended = promise;
    this.#settle = resolve;
  }

  /** State of the run; null before it samples. */
  get report(): ShadowReport | null {
    return this.#report;
  }

  /** Builds the candidate in a process of its own. @throws Refusal to reject the change. */
  async open({ snapshot, secrets, signal }: Next, attempt: Attempt): Promise<void> {
    const { serving, rehearsals } = this.#gateway;
    const order: ShadowOrder = {
      next: { ...sent(snapshot), secrets },
      baseline: { ...sent(serving.snapshot), secrets: [...(serving.secrets ?? [])] },
      pluginFolder: rehearsals.pluginFolder,
      denied: [...rehearsals.denied, ownAddress(this.#gateway)],
      sendsAnyMethod: this.#settings.sendsAnyMethod,
    };
    this.#attempt = attempt;
    this.#revision = this.#gateway.status.revision;
    try {
      const child = startRehearsalChild(rehearsals.program, 'shadow', 'the process of a shadow run');
      this.#child = child;
      signal.addEventListener('abort', child.kill);
      await child.channel.ask('shadow', order, START_MS).finally(() => signal.removeEventListener('abort', child.kill));
    } catch (error) {
      this.discard();
      signal.throwIfAborted();
      throw refusalOf(error as Error, snapshot.document);
    }
  }

  /** Ends the process of a candidate that does not begin. */
  discard(): void {
    this.#child?.kill();
  }

  /** Begins to sample. */
  begin(): void {
    const { durationMs, sample } = this.#settings;
    const { processes, events, status } = this.#gateway;
    const child = this.#child!;
    const now = Date.now();
    this.#update({
      ...nothing,
      state: 'running',
      attempt: this.#attempt!.id,
      revision: this.#revision,
      sample,
      startedAt: new Date(now).toISOString(),
      endsAt: new Date(now + durationMs).toISOString(),
      skipped: { ...this.#skipped },
      reason: null,
    });
    runAs('shadow', 'the shadow run', () => {
      this.#releases = [
        () => processes.sample(null),
        this.#timers.after(durationMs, () => void this.end('finished', null)),
        events.subscribe({ types: ['reload.succeeded'] }, ({ data }) => {
          const { result, revision } = data as { readonly result?: string; readonly revision?: number };
          if (result === 'applied') this.#supersede(revision!);
        }),
      ];
      void child.ended.then(() => this.end('failed', 'its process has ended'));
      processes.sample({ rate: sample, receive: (batch) => this.#receive(batch) });
      this.#readLater();
    });
    events.emit('shadow.started', this.#report!);
    if (status.revision !== this.#revision) this.#supersede(status.revision);
  }

  /** Ends the run. Has no effect on a run that is ending. @returns the final report. */
  end(state: Exclude<ShadowState, 'running'>, reason: string | null): Promise<ShadowReport> {
    if (this.#isEnding) return this.ended;
    this.#isEnding = true;
    for (const release of this.#releases) release();
    void this.#finish(state, reason);
    return this.ended;
  }

  #supersede(revision: number): void {
    void this.end('superseded', `revision ${revision} has replaced revision ${this.#revision}`);
  }

  async #finish(state: ShadowState, reason: string | null): Promise<void> {
    const { events, log } = this.#gateway;
    const late = performance.now() + SETTLE_MS;
    if (state !== 'failed') {
      while (this.#held > 0 && performance.now() < late) await delay(20, undefined, { ref: false });
      await this.#read(SETTLE_MS).catch(() => {});
    }
    this.#child?.kill();
    this.#update({ state, reason, endsAt: new Date().toISOString() });
    const report = this.#report!;
    const { attempt, compared, different } = report;
    const result = `${different} of ${compared} compared responses differ`;
    if (state === 'failed') log.warning(`shadow run of attempt ${attempt} failed: ${reason}; ${result}`);
    else log.info(`shadow run of attempt ${attempt} has ended: ${reason ?? 'its time is over'}; ${result}`);
    events.emit('shadow.finished', report);
    this.#settle(report);
  }

  async #receive({ sample, skipped }: SampleBatch): Promise<void> {
    if (this.#isEnding) return;
    for (const reason of ['busy', 'incomplete', 'unsuitable'] as const) this.#skipped[reason] += skipped[reason];
    // Workers switch to a new configuration before the run ends.
    if (!sample || sample.revision !== this.#revision) return;
    if (this.#held >= MAX_HELD) {
      this.#skipped.busy++;
      return;
    }
    this.#held++;
    try {
      const outcome = (await this.#child!.channel.ask('sample', sample, SAMPLE_MS)) as SampleOutcome;
      if (outcome !== 'compared') this.#skipped[outcome]++;
    } catch {
      // The end of the process, or its silence, ends the run.
    } finally {
      this.#held--;
    }
  }

  #readLater(): void {
    const cancel = this.#timers.after(READ_MS, async () => {
      this.#releases.splice(this.#releases.indexOf(cancel), 1);
      try {
        await this.#read(SILENT_MS);
      } catch (error) {
        if (error instanceof GatewayError && error.code === 'CHANNEL_TIMEOUT') {
          void this.end('failed', `its process has not responded for ${SILENT_MS / 1000} s`);
        }
        return;
      }
      if (!this.#isEnding) this.#readLater();
    });
    this.#releases.push(cancel);
  }

  async #read(timeoutMs: number): Promise<void> {
    const findings = (await this.#child!.channel.ask('findings', null, timeoutMs)) as ShadowFindings;
    const { attempt, changes } = this.#report!;
    this.#update(findings);
    for (const change of findings.changes.slice(changes.length)) {
      this.#gateway.events.emit('shadow.difference', { attempt, ...change });
    }
  }

  /** Replaces the report, which is data of its attempt and of events. */
  #update(changed: Partial<ShadowReport>): void {
    this.#report = { ...this.#report!, ...changed, skipped: { ...this.#skipped } };
    this.#attempt!.shadow = this.#report;
  }
}

/** Address of the gateway's port for clients. */
function ownAddress({ serving, processes }: ShadowingGateway): ListenAddress {
  return { address: serving.config.listen_ip || '::', port: processes.port ?? 0 };
}

function refusalOf(error: Error, document: Next['snapshot']['document']): Refusal {
  if (error instanceof ConfigErrors) return new Refusal('build', 'rehearse', error.errors, document);
  const failure = new ConfigError('SHADOW_FAILED', '', `the shadow run cannot start: ${error.message}`);
  return new Refusal('build', 'rehearse', [failure], document);
}
