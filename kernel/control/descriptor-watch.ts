import type { Log } from '#contract';
import { type Descriptors, readDescriptors } from '../values/descriptors.ts';

/** Time between two readings, in milliseconds. */
const INTERVAL_MS = 1_000;

/** Time in which each state is logged once at most, in milliseconds. */
const PAUSE_MS = 60_000;

/** Share of the limit above which a warning is logged. */
const NEARLY_ALL = 0.9;

const lost = 'new client connections are closed, and new connections to backends fail';

const remedy = 'raise the limit with ulimit -n, or LimitNOFILE= under systemd';

export interface DescriptorWatchOptions {
  readonly log: Log;
  /** Monotonic clock, in milliseconds. */
  readonly now: () => number;
  /** Reads the descriptors. Default: the descriptors of this process. */
  readonly read?: () => Descriptors | null;
}

type State = 'enough' | 'few' | 'none';

/**
 * Logs when the process runs out of file descriptors. Without this line, the cause would stay unknown, because libuv
 * then accepts and closes client connections without emitting an event.
 */
export class DescriptorWatch {
  readonly #options: Required<DescriptorWatchOptions>;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #loggedAt: Record<State, number> = { enough: -Infinity, few: -Infinity, none: -Infinity };
  #logged: State = 'enough';

  constructor(options: DescriptorWatchOptions) {
    this.#options = { read: readDescriptors, ...options };
    if (this.look()) this.#timer = setInterval(() => this.look(), INTERVAL_MS).unref();
  }

  /** Reads the number of descriptors once. @returns false on systems that do not report descriptors. */
  look(): boolean {
    const { log, now, read } = this.#options;
    const descriptors = read();
    if (descriptors === null) return false;
    const state = stateOf(descriptors);
    // Running out is logged again every minute for as long as it lasts.
    const isNews = state !== this.#logged || state === 'none';
    if (isNews && now() - this.#loggedAt[state] >= PAUSE_MS) {
      this.#logged = state;
      this.#loggedAt[state] = now();
      write[state](log, descriptors);
    }
    return true;
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

function stateOf({ open, limit, exhausted }: Descriptors): State {
  if (exhausted !== null || open >= limit) return 'none';
  return open >= limit * NEARLY_ALL ? 'few' : 'enough';
}

const write: Readonly<Record<State, (log: Log, descriptors: Descriptors) => void>> = {
  enough(log, { open, limit }) {
    log.info(`file descriptors are available again: ${open} of ${limit} are in use`);
  },
  few(log, { open, limit }) {
    log.warning(`${open} of ${limit} file descriptors are in use: ${remedy}`);
  },
  none(log, { limit, exhausted }) {
    const message =
      exhausted === 'ENFILE'
        ? `the system has run out of file descriptors (ENFILE): ${lost}; raise fs.file-max with sysctl`
        : `the process has run out of file descriptors (EMFILE), all ${limit} are in use: ${lost}; ${remedy}`;
    log.error(message);
  },
};
