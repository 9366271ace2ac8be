/** Wait times of a watcher, in milliseconds. */
export interface WatchTimes {
  /** Quiet time after an event before files are checked. Default: 200. */
  readonly quietMs: number;
  /** Longest delay from the first event, regardless of later ones, before files are checked. Default: 2,000. */
  readonly longestMs: number;
  /** Interval between two readings that must agree. Default: 50. */
  readonly stabilityMs: number;
  /** Time after which files that keep changing, are missing or look unfinished are accepted as they are. Default: 2,000. */
  readonly patienceMs: number;
  /** Number of readings of a missing or unfinished file within `patienceMs`. Default: 10. */
  readonly retries: number;
  /** Poll interval where events are unreliable. Default: 2,000. */
  readonly pollMs: number;
  /** Poll interval in addition to events. Default: 30,000. */
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
