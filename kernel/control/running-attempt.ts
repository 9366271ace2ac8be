import type { Events } from '#contract';
import { connectionOwner, type FaultOwner, GatewayError } from '../contract/internal.ts';
import { Phases } from '../runtime/build/phases.ts';
import { ReadFiles } from '../runtime/prints/read-files.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { FileRead } from '../runtime/watch/index.ts';
import type { Attempt } from './attempts.ts';
import type { Change } from './change.ts';
import type { Next } from './participant.ts';
import type { HeldSecrets } from './secrets/held-secrets.ts';
import type { Snapshot, Source } from './snapshot.ts';

/** A change with its source, which is known when the change's turn comes. */
export type Sourced = Change & { readonly source: Source };

/** Remaining time of an attempt once another change waits behind it, in milliseconds. */
const OVERTAKEN_MS = 2000;

/** An attempt in progress. */
export class RunningAttempt {
  readonly change: Sourced;
  readonly attempt: Attempt;
  readonly phases: Phases;
  readonly files = new ReadFiles();
  /**
   * Files with secrets. They are watched, but the fingerprint of the configuration excludes them, because it is shown
   * to users.
   */
  readonly secretFiles = new ReadFiles();
  /** Owner of the attempt's errors: an uncaught error in one of its steps cancels the attempt. */
  readonly owner: FaultOwner;
  snapshot: Snapshot | null = null;
  /** Secrets of the document; null without references, and once the change serves. */
  secrets: HeldSecrets | null = null;
  /** The configuration file, first, and the files that it is built from; empty for other sources. */
  readonly #sources = new Map<string, FileRead>();
  readonly #canceller = new AbortController();
  #overtaken: NodeJS.Timeout | null = null;

  constructor(change: Sourced, attempt: Attempt, events: Events) {
    this.change = change;
    this.attempt = attempt;
    const { id } = attempt;
    this.phases = new Phases((phase) => events.emit('reload.phase', { attempt: id, phase }), this.#canceller.signal);
    const cancel = (): void => this.cancel('canceled after an internal error');
    this.owner = connectionOwner('change', `attempt ${id} (${change.trigger})`, cancel);
  }

  /** Cancels the attempt if it is waiting for components. Steps that cannot be canceled have their own time limits. */
  cancel(reason: string): void {
    this.#canceller.abort(new GatewayError('RELOAD_CANCELLED', reason));
  }

  /** Called when another change is waiting, so that an attempt that hangs is canceled after a time. */
  overtake(): void {
    this.#overtaken ??= setTimeout(() => this.cancel('canceled because a newer change replaces it'), OVERTAKEN_MS);
  }

  end(): void {
    if (this.#overtaken) clearTimeout(this.#overtaken);
  }

  /** The configuration, as other parts of the gateway prepare it. */
  next(runtime: Runtime): Next {
    const { snapshot, files, secrets, phases } = this;
    const values = [...(secrets?.values ?? [])];
    return { runtime, snapshot: snapshot!, files: files.contents, secrets: values, signal: phases.signal };
  }

  noteFile(file: FileRead): void {
    this.#sources.set(file.path, file);
  }

  /** Files that the configuration itself is built from. */
  get sources(): readonly FileRead[] {
    return [...this.#sources.values()];
  }

  get filesRead(): readonly FileRead[] {
    return [...this.#sources.values(), ...this.files.reads, ...this.secretFiles.reads];
  }
}
