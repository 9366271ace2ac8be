import type { AdminSettings } from '#contract';
import type { Operations } from '#kernel';
import type { Operating } from './operating/operating.ts';
import type { Operation } from './operation.ts';

/** What the operations of the admin API work with. */
export interface Admin {
  readonly gateway: Operations;
  /** As the serving configuration sets it. */
  readonly settings: AdminSettings;
  /** Every operation there is, to be described. */
  readonly operations: readonly Operation[];
  /** What is watched and held for as long as the admin port is open. */
  readonly operating: Operating;
  /** Ends the process in order. */
  stop(): void;
}
