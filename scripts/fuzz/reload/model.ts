import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import type { Applied } from '../../../kernel/control/change.ts';
import { KEPT_REVISIONS } from '../../../kernel/control/reload-settings.ts';
import { ConfigText } from '../../../kernel/control/snapshot.ts';
import { eventually } from '../eventually.ts';
import { type Answer, ask } from './clients.ts';
import { ALLOWED, writePlugin, written } from './configuration.ts';
import type { RunningGateway } from './gateway.ts';
import { Lasting } from './lasting.ts';
import type { ChangeStep, Step } from './steps.ts';
import type { Surroundings } from './surroundings.ts';

/** A configuration that may serve. */
interface Wanted {
  readonly text: string;
  /** Data that `/who` responds with. */
  readonly mark: string;
  readonly port: number;
  readonly isSecured: boolean;
}

/** A change that has been tried. */
interface Changed {
  readonly name: string;
  /** Time at which the change began, on the monotonic clock. */
  readonly since: number;
  readonly wanted: Wanted;
  /** Whether the change is expected to succeed; false if it must be rejected. */
  readonly isGood: boolean;
}

/** Time after which a change may be rejected because a busy machine does not complete it, in milliseconds. */
const LATE_MS = 2_000;

type Actions = {
  readonly [Act in Step['act']]: (step: Extract<Step, { act: Act }>, at: number) => Promise<void> | void;
};

/** A running gateway, and everything that it must do after the steps so far. */
export class Model {
  readonly #gateway: RunningGateway;
  readonly #around: Surroundings;
  readonly #lasting: Lasting;
  #served: Wanted;
  /** Fingerprints of the certificate to present, and of the one in the files; null for none. */
  #certificate: string | null = null;
  #stored: string | null;
  #isPluginGood = true;
  /** Texts of the configurations that have served, by revision. */
  readonly #accepted = new Map<number, string>();
  /** Number of requests that the rate limit has allowed, and of those that were lost. */
  #allowed = 0;
  #uncounted = 0;
  /** The response that is cached; null before the first. */
  #kept: string | null = null;
  /** Number of workers that had been killed when all served again. */
  #killed: number;
  /** Number of steps so far. */
  #taken = 0;

  constructor(gateway: RunningGateway, first: string, around: Surroundings) {
    this.#gateway = gateway;
    this.#around = around;
    this.#lasting = new Lasting(gateway, around);
    this.#served = { text: first, mark: 'start', port: around.ports[0]!, isSecured: false };
    this.#accepted.set(1, first);
    this.#stored = around.certificates.put(gateway.folder, 'first');
    this.#killed = around.kills.killed.size;
  }

  /** @throws Error when the gateway breaks a promise. */
  async take(step: Step): Promise<void> {
    const at = this.#taken++;
    try {
      await (this.#actions[step.act] as (step: Step, at: number) => Promise<void> | void)(step, at);
      await this.#check();
    } catch (error) {
      throw new Error(`step ${at} (${step.act}): ${(error as Error).message}`, { cause: error });
    }
  }

  /** Number of configurations that have served. */
  get accepted(): number {
    return this.#accepted.size;
  }

  /** Stops all failures and ends all requests. @throws Error when something has not recovered. */
  async rest(): Promise<void> {
    const { system, kills } = this.#around;
    system.follow('nothing fails');
    kills.disarm();
    await this.#recover();
    await this.#check();
    await this.#lasting.release();
    await this.#change({ act: 'save', kind: 'plain', port: 0 }, `end${this.#taken}`);
    await this.#check();
  }

  /** Checks the gateway when no request is in progress. @throws Error when a replaced configuration, an old port or a wrong history remains. */
  async end(): Promise<void> {
    const { operations } = this.#gateway;
    await eventually(
      () => operations.status.draining === 0,
      () => `${operations.status.draining} configurations stay`,
    );
    for (const port of this.#around.ports.slice(1)) await mustBeClosed(port);
    await this.#mustBeRecorded();
  }

  readonly #actions: Actions = {
    save: (step, at) => this.#change(step, `m${at}`),
    apply: (step, at) => this.#change(step, `m${at}`),
    guarded: (step, at) => this.#change(step, `m${at}`),
    dry: (step, at) => this.#change(step, `m${at}`),
    twice: (step, at) => this.#change(step, `m${at}`),
    rollback: () => this.#rollback(),
    plugin: ({ isGood }) => {
      this.#isPluginGood = isGood;
      writePlugin(this.#gateway.folder, isGood);
    },
    certificate: ({ state }) => {
      this.#stored = this.#around.certificates.put(this.#gateway.folder, state);
    },
    hold: () => this.#begin('/held', '{"held":1}'),
    stream: () => this.#begin('/stream', 'data: {"begun":1}\n\ndata: {"ended":1}\n\n'),
    release: () => this.#lasting.release(),
    count: () => this.#count(),
    keep: () => this.#keep(),
    fail: ({ plan }) => this.#around.system.follow(plan),
    kill: ({ worker }) => this.#around.kills.now(this.#gateway.pids[worker]!),
    arm: ({ kill }) => this.#around.kills.arm(kill),
  };

  #begin(path: string, expected: string): Promise<void> {
    return this.#lasting.begin(this.#served, path, expected, this.#isAnyKilled);
  }

  async #change({ act, kind, port: at }: ChangeStep, mark: string): Promise<void> {
    const { ports, backend } = this.#around;
    const { operations, folder, file } = this.#gateway;
    const port = ports[at]!;
    const text = written({ mark, kind, port, host: backend.host, folder });
    const isSaved = act === 'save' || act === 'twice';
    const since = performance.now();
    if (isSaved) this.#gateway.save(text);
    const applied = operations.apply({
      trigger: 'api',
      source: isSaved ? file : new ConfigText(text, 'json'),
      dryRun: act === 'dry',
      ...(act === 'guarded' && { guard: { durationMs: 20 } }),
    });
    const wanted = { text, mark, port, isSecured: kind === 'secured' };
    const isGood =
      kind !== 'refused' &&
      kind !== 'malformed' &&
      (kind !== 'plugged' || this.#isPluginGood) &&
      (kind !== 'secured' || this.#stored !== null);
    const results = await Promise.allSettled(act === 'twice' ? [applied, operations.reload(file)] : [applied]);
    const change = { name: `${act} of a ${kind} configuration`, since, wanted, isGood };
    for (const result of results) this.#note(result, change);
  }

  async #rollback(): Promise<void> {
    const { operations } = this.#gateway;
    const revision = await operations.revisions.get(1);
    if (typeof revision !== 'object') {
      if (this.#around.system.isReadable && this.accepted <= KEPT_REVISIONS)
        throw new Error('the first revision is not kept');
      return;
    }
    const { text, format } = revision;
    const source = new ConfigText(text, format);
    const since = performance.now();
    const [result] = await Promise.allSettled([operations.apply({ trigger: 'rollback', source })]);
    const wanted = { text, mark: 'start', port: this.#around.ports[0]!, isSecured: false };
    this.#note(result, { name: 'rollback', since, wanted, isGood: true });
  }

  /** Compares the result of a change with the expected one. */
  #note(result: PromiseSettledResult<Applied>, { name, since, wanted, isGood }: Changed): void {
    if (result.status === 'rejected') {
      if (!(result.reason instanceof ConfigErrors)) throw result.reason;
      const isLate = performance.now() - since > LATE_MS;
      const isExplained = !isGood || isLate || !this.#around.system.isReadable || this.#isAnyKilled;
      if (!isExplained) throw new Error(`${name} is refused: ${result.reason.message}`);
      return;
    }
    if (!isGood) throw new Error(`${name} is accepted`);
    const { result: kind, revision } = result.value;
    if (kind === 'dry_run') return;
    if (kind === 'applied') this.#accepted.set(revision, wanted.text);
    this.#served = wanted;
    this.#certificate = wanted.isSecured ? this.#stored : null;
  }

  async #count(): Promise<void> {
    const answer = await this.#ask('/counted');
    if (answer === null) this.#uncounted += 1;
    else if (answer.status === 200) this.#allowed += 1;
    else if (answer.status !== 503 || this.#allowed + this.#uncounted < ALLOWED)
      throw new Error(`${answer.status} after ${this.#allowed} of ${ALLOWED} requests`);
    if (this.#allowed > ALLOWED) throw new Error(`${this.#allowed} requests are allowed instead of ${ALLOWED}`);
  }

  async #keep(): Promise<void> {
    const answer = await this.#ask('/kept');
    if (answer === null) return;
    this.#kept ??= answer.body;
    if (answer.status !== 200 || answer.body !== this.#kept)
      throw new Error(`${answer.status} ${answer.body} instead of the cached ${this.#kept}`);
  }

  /** True while not all workers serve again since one was killed. */
  get #isAnyKilled(): boolean {
    return this.#around.kills.killed.size > this.#killed;
  }

  /** @returns null for a request that may have been lost with its worker. */
  async #ask(path: string): Promise<Answer | null> {
    try {
      return await ask(this.#served, path);
    } catch (error) {
      if (this.#isAnyKilled) return null;
      throw error;
    }
  }

  /** Checks the promises that hold after each step, also while killed workers are being replaced. */
  async #check(): Promise<void> {
    await this.#mustServe();
    await this.#lasting.mustBeCounted();
    this.#gateway.mustBeSound();
  }

  /** Waits until all workers serve. @throws Error when one does not. */
  async #recover(): Promise<void> {
    const { killed } = this.#around.kills;
    while (this.#isAnyKilled) {
      const count = killed.size;
      await this.#gateway.converged(killed);
      this.#killed = count;
      for (let each = 0; each < this.#around.workers; each++) await this.#mustServe();
    }
  }

  async #mustServe(): Promise<void> {
    const { mark } = this.#served;
    const answer = await this.#ask('/who');
    if (answer === null) return;
    const { status, body, certificate } = answer;
    if (status !== 200 || !body.includes(`"${mark}"`)) throw new Error(`${status} ${body} instead of "${mark}"`);
    if (certificate !== this.#certificate)
      throw new Error(`presents the certificate ${certificate} instead of ${this.#certificate}`);
  }

  /** Checks that the history contains exactly the configurations that have served, or the last ones. */
  async #mustBeRecorded(): Promise<void> {
    const { revisions } = this.#gateway.operations;
    await revisions.settled;
    if (revisions.problem !== null) throw new Error(`the history is incomplete: ${revisions.problem}`);
    const numbers = revisions.list().map(({ number }) => number);
    const kept = [...this.#accepted].slice(-KEPT_REVISIONS);
    const expected = kept.map(([number]) => number).reverse();
    if (String(numbers) !== String(expected)) throw new Error(`the history has ${numbers} instead of ${expected}`);
    for (const [number, text] of kept) {
      const revision = await revisions.get(number);
      if (typeof revision !== 'object' || revision.text !== text)
        throw new Error(`revision ${number} of the history is not the one that served`);
    }
  }
}

async function mustBeClosed(port: number): Promise<void> {
  await eventually(
    () =>
      ask({ port, isSecured: false }, '/who').then(
        () => false,
        ({ code }: NodeJS.ErrnoException) => code === 'ECONNREFUSED',
      ),
    () => `port ${port} stays open`,
  );
}
