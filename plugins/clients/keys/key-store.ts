import type { Mirror, Site } from '#contract';
import { News } from '../../shared/calls/news.ts';
import { BUSY, DownloadGate, type Requested } from './download-gate.ts';
import { DOWNLOAD_MS, type KeyServer } from './key-server.ts';
import { KeySet } from './key-set.ts';

/** Message between processes about a set: its text and age in milliseconds, or the failure of a download. */
type Change = { text: string; age: number } | { failed: string };

/** The copy of a downloaded set in one process. */
class Copy {
  text = '';
  set: KeySet | null = null;
  /** Time of the download. */
  at = Number.NEGATIVE_INFINITY;
  /** Why the last download failed; null if it succeeded. */
  failure: string | null = null;
  refreshing: Promise<boolean> | null = null;
  readonly news = new News();
  /** Time from which permission to download can be requested again, by reason. */
  readonly quietUntil = { stale: Number.NEGATIVE_INFINITY, unknown: Number.NEGATIVE_INFINITY };

  learn(change: Change, now: number): void {
    if ('failed' in change) {
      this.failure = change.failed;
    } else if (change.text !== '') {
      this.set = KeySet.parse(change.text, this.set);
      this.text = change.text;
      this.at = now - change.age;
      this.failure = null;
    }
    this.news.spread();
  }
}

/**
 * The downloaded set of one key server: shared by all components that fetch it in the same way, with a copy in each
 * process, kept across reloads. Only one download runs at a time.
 */
export class KeyStore {
  readonly #copy: Copy;
  readonly #mirror: Mirror<Copy, Change>;
  readonly #ask: (requested: Requested) => number | Promise<number>;
  readonly #server: KeyServer;
  readonly #now: () => number;
  readonly #end = new AbortController();

  constructor(site: Site<unknown>, server: KeyServer) {
    const clock = site.use('clock');
    this.#now = () => clock.now();
    this.#server = server;
    this.#mirror = site.mirror<Copy, Change>(['keys', server.identity], {
      open: () => new Copy(),
      apply: (copy, change) => copy.learn(change, clock.now()),
      snapshot: ({ text, at }) => ({ text, age: text === '' ? 0 : clock.now() - at }),
    });
    this.#copy = this.#mirror.value;
    this.#ask = site.share<DownloadGate, Requested, number>(
      ['downloads', server.identity],
      () => new DownloadGate(),
      (gate, requested) => gate.ask(requested, clock.now()),
    );
    site.defer(() => this.#end.abort());
  }

  /** Returns the set if it is not older than `maxAgeMs`. */
  fresh(maxAgeMs: number): KeySet | null {
    const { set, at } = this.#copy;
    return set !== null && this.#now() - at <= maxAgeMs ? set : null;
  }

  /** Why the last download failed; null if it succeeded. */
  get failure(): string | null {
    return this.#copy.failure;
  }

  /**
   * Downloads the set if it is due; waits for a running download. Never fails.
   * @returns true once the key server was requested, regardless of the outcome; false, or undefined immediately, when
   * it was not due.
   */
  refresh(why: 'stale' | 'unknown'): Promise<boolean> | undefined {
    const copy = this.#copy;
    if (copy.refreshing) return copy.refreshing;
    if (this.#now() < copy.quietUntil[why]) return undefined;
    copy.refreshing = this.#obtain(why).finally(() => {
      copy.refreshing = null;
    });
    return copy.refreshing;
  }

  async #obtain(why: 'stale' | 'unknown'): Promise<boolean> {
    const { signal } = this.#end;
    const { news } = this.#copy;
    const heard = news.count;
    try {
      const wait = await this.#ask(why);
      // Checked once more, because the result of another worker's download may have arrived together with the response.
      if (wait === BUSY && news.count === heard) await news.next(DOWNLOAD_MS, signal);
      if (wait === BUSY) return news.count !== heard;
      if (wait > 0) {
        this.#copy.quietUntil[why] = this.#now() + wait;
        return false;
      }
    } catch {
      // The process that decides about downloads has ended, and this one will end soon, so nothing is downloaded.
      return false;
    }
    const reported = news.next(DOWNLOAD_MS, signal);
    let result: Requested = 'done';
    try {
      const { text } = await this.#server.fetch(signal);
      KeySet.parse(text);
      this.#mirror.change({ text, age: 0 });
    } catch (error) {
      if (!signal.aborted) result = 'failed';
      this.#mirror.change({ failed: (error as Error).message });
    }
    await Promise.all([reported, Promise.resolve(this.#ask(result)).catch(() => {})]);
    return !signal.aborted;
  }
}
