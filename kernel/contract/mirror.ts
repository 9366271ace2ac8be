import type { Data } from '../values/data.ts';

/** Synchronization of a value that every process has a copy of. */
export interface MirrorOptions<T, Change extends Data | Uint8Array> {
  open(): T;
  /** Applies a change to a copy. Called in every process, in the same order for changes of one process. */
  apply(value: T, change: Change): void;
  /** Creates a change that turns a fresh value into this one, for a process that starts. */
  snapshot(value: T): Change;
}

/** A value that every process has a copy of. */
export interface Mirror<T, Change> {
  /** Value of the copy in this process. */
  readonly value: T;
  /** Changes the copy of this process at once, and the copies of other processes shortly afterwards. */
  change(change: Change): void;
}
