import { GatewayError } from '../contract/internal.ts';
import { type Phase, Phases } from '../runtime/phases.ts';
import { ReadFiles } from '../runtime/read-files.ts';
import type { FileRead } from '../runtime/watch/index.ts';
import type { Attempt } from './attempts.ts';
import type { Change } from './change.ts';
import type { Snapshot, Source } from './snapshot.ts';

/** A change whose source is known. */
export type Sourced = Change & { readonly source: Source };

/** Time that an attempt has left once another change waits behind it, in milliseconds. */
const OVERTAKEN_MS = 2000;

/** One attempt on its way. */
export class RunningAttempt {
  readonly change: Sourced;
  readonly attempt: Attempt;
  readonly phases: Phases;
  readonly files = new ReadFiles();
  snapshot: Snapshot | null = null;
  /** The file of the configuration, first, and the files that it is made of; none where it came otherwise. */
  readonly #sources = new Map<string, FileRead>();
  readonly #canceller = new AbortController();
  #overtaken: NodeJS.Timeout | null = null;

  /** @param onEnter called with every step that begins. */
  constructor(change: Sourced, attempt: Attempt, onEnter: (phase: Phase) => void) {
    this.change = change;
    this.attempt = attempt;
    this.phases = new Phases(onEnter, this.#canceller.signal);
  }

  /** Gives the attempt up where it waits for components; what cannot be cancelled is bounded by itself. */
  cancel(reason: string): void {
    this.#canceller.abort(new GatewayError('RELOAD_CANCELLED', reason));
  }

  /** Another change waits: one that hangs must not hold it up. */
  overtake(): void {
    this.#overtaken ??= setTimeout(() => this.cancel('cancelled in favor of the next change'), OVERTAKEN_MS);
  }

  /** The attempt has ended. */
  end(): void {
    if (this.#overtaken) clearTimeout(this.#overtaken);
  }

  noteFile(file: FileRead): void {
    this.#sources.set(file.path, file);
  }

  /** Files that the configuration itself is built from. */
  get sources(): readonly FileRead[] {
    return [...this.#sources.values()];
  }

  get filesRead(): readonly FileRead[] {
    return [...this.#sources.values(), ...this.files.reads];
  }
}
