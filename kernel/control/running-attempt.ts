import type { Phases } from '../runtime/phases.ts';
import { ReadFiles } from '../runtime/read-files.ts';
import type { FileRead } from '../runtime/watch/index.ts';
import type { Attempt } from './attempts.ts';
import type { Change } from './change.ts';
import type { Snapshot, Source } from './snapshot.ts';

/** A change whose source is known. */
export type Sourced = Change & { readonly source: Source };

/** One attempt on its way. */
export class RunningAttempt {
  readonly change: Sourced;
  readonly attempt: Attempt;
  readonly phases: Phases;
  readonly files = new ReadFiles();
  snapshot: Snapshot | null = null;
  /** The file of the configuration, first, and the files that it is made of; none where it came otherwise. */
  readonly #sources = new Map<string, FileRead>();

  constructor(change: Sourced, attempt: Attempt, phases: Phases) {
    this.change = change;
    this.attempt = attempt;
    this.phases = phases;
  }

  noteFile(file: FileRead): void {
    this.#sources.set(file.path, file);
  }

  get filesRead(): readonly FileRead[] {
    return [...this.#sources.values(), ...this.files.reads];
  }
}
