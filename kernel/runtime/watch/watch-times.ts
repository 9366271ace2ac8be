/** How long a watcher waits, in milliseconds. */
export interface WatchTimes {
  /** Without an event, before files are looked at. Default 200. */
  readonly quietMs: number;
  /** From the first event, however many follow, before files are looked at. Default 2,000. */
  readonly longestMs: number;
  /** Between two readings that must agree. Default 50. */
  readonly stabilityMs: number;
  /** For files that keep changing, are missing or look unfinished, before they are taken as they are. Default 2,000. */
  readonly patienceMs: number;
  /** Readings of a missing or unfinished file within `patienceMs`. Default 10. */
  readonly retries: number;
  /** Between two looks at the files where events cannot be relied on. Default 2,000. */
  readonly pollMs: number;
  /** Between two looks at the files beside events. Default 30,000. */
  readonly slowPollMs: number;
}

export const defaultWatchTimes: WatchTimes = {
  quietMs: 200,
  longestMs: 2_000,
  stabilityMs: 50,
  patienceMs: 2_000,
  retries: 10,
  pollMs: 2_000,
  slowPollMs: 30_000,
};
