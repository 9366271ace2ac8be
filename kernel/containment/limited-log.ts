import { LRUCache } from 'lru-cache';
import { boundToOwner } from '../contract/internal.ts';

/** Interval in which only one line is written per subject, in milliseconds. */
const PAUSE_MS = 1000;

/** Maximum number of subjects remembered. */
const REMEMBERED = 1000;

interface Held {
  /** Number of further lines since the last write. */
  more: number;
  /** The latest suppressed line. */
  latest: string;
  timer: NodeJS.Timeout | null;
}

/** Rate-limits log lines: at most one a second per subject, then the latest suppressed line with the number of suppressed lines. */
export class LimitedLog {
  readonly #write: (line: string) => void;
  readonly #held = new LRUCache<string, Held>({
    max: REMEMBERED,
    dispose: ({ timer }) => {
      if (timer) clearTimeout(timer);
    },
  });

  /** Runs as work of the log's owner, so that an error in it is not attributed to the subject of the line. */
  readonly #hold = boundToOwner((about: string) => this.#remember(about));

  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  /** @param about subject of the line. @param detail suffix for the first line only. */
  write(about: string, line: string, detail = ''): void {
    const held = this.#held.get(about);
    if (held) {
      held.more++;
      held.latest = line;
      return;
    }
    this.#write(line + detail);
    this.#hold(about);
  }

  #remember(about: string): void {
    const held: Held = { more: 0, latest: '', timer: null };
    this.#held.set(about, held);
    held.timer = setTimeout(() => {
      this.#held.delete(about);
      if (held.more === 0) return;
      this.#write(`${held.latest} (${held.more} more in the last second)`);
      this.#hold(about);
    }, PAUSE_MS).unref();
  }

  close(): void {
    this.#held.clear();
  }
}
