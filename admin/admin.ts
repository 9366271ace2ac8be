import type { AdminSettings } from '#contract';
import type { Operations } from '#kernel';
import type { OpenApi } from './openapi/document.ts';
import type { Operating } from './operating/operating.ts';

/** What the operations of the admin API work with. */
export interface Admin {
  readonly gateway: Operations;
  /** As the serving configuration sets it. */
  readonly settings: AdminSettings;
  /** Describes the admin API itself. @param origin where it is served, as in `http://127.0.0.1:9180`. */
  describe(origin: string): OpenApi;
  /** What is watched and held for as long as the admin port is open. */
  readonly operating: Operating;
  /** Ends the process in order. */
  stop(): void;
}
