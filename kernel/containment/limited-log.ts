import { LRUCache } from 'lru-cache';

/** Time in which a line about the same thing is written once, in milliseconds. */
const PAUSE_MS = 1000;

/** Lines that are remembered. */
const REMEMBERED = 1000;

interface Held {
  /** Further ones since the line was written. */
  more: number;
  /** The latest of them. */
  latest: string;
  timer: NodeJS.Timeout | null;
}

/** Writes a line about the same thing at most once a second, and then the latest of what came since, and how many they were. */
export class LimitedLog {
  readonly #write: (line: string) => void;
  readonly #held = new LRUCache<string, Held>({
    max: REMEMBERED,
    dispose: ({ timer }) => {
      if (timer) clearTimeout(timer);
    },
  });

  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  /** @param about what the line is about. @param detail what only the first line has. */
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

  #hold(about: string): void {
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
