import type { Data } from '../values/data.ts';

/** Synchronization of a value that every process has a copy of. */
export interface MirrorOptions<T, Change extends Data | Uint8Array> {
  open(): T;
  /**
   * Applies a change to a copy of the value. Called in every process; the changes that one process makes are applied in
   * the same order everywhere.
   */
  apply(value: T, change: Change): void;
  /** Returns a change that turns the initial value into the current one, for a process that starts later. */
  snapshot(value: T): Change;
}

/** A value that every process has a copy of. */
export interface Mirror<T, Change> {
  /** Value of the copy in this process. */
  readonly value: T;
  /** Changes the copy of this process at once, and the copies of other processes shortly afterwards. */
  change(change: Change): void;
}
