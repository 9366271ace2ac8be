import { resolve } from 'node:path';
import type { Log } from '#contract';
import type { LooksUnfinished } from './content.ts';
import { directoryEvents } from './directory-events.ts';
import { lacksEvents } from './lacks-events.ts';
import { looksUnfinished } from './looks-unfinished.ts';
import { type Contents, debounce, settle } from './settle.ts';
import { createWaits, systemTimers, type Timers } from './timers.ts';
import { defaultWatchTimes, type WatchTimes } from './watch-times.ts';
import { type FileRead, watchedSet } from './watched-set.ts';

export type { FileRead } from './watched-set.ts';

export interface WatchOptions {
  /**
   * Called with the absolute paths whose content has changed: modified, new, removed or unreadable. Runs one at a time;
   * changes in the meantime are reported in one run after it. A rejection is logged, and watching continues.
   */
  onChange(changed: readonly string[]): Promise<void>;
  readonly log: Pick<Log, 'debug' | 'warning' | 'error'>;
  /** False: poll every `pollMs` instead of using operating system events. Default: true. */
  readonly events?: boolean;
  /** Overrides of the default times. */
  readonly times?: Partial<WatchTimes>;
  /** Default: timers that do not keep the process alive. */
  readonly timers?: Timers;
  /** Default: `looksUnfinished`. */
  readonly looksUnfinished?: LooksUnfinished;
}

export interface WatchStatus {
  /** Method of detecting changes. Events are always complemented by a slow poll. */
  readonly mode: 'events' | 'poll';
  /** Number of watched paths, including missing ones. */
  readonly files: number;
}

/** Reports changes of watched files. Its methods never throw or reject. */
export interface Watcher {
  /**
   * Sets the files, and directories listed, to watch; replaces the previous ones. Content given with a path, as read by
   * an attempt, is compared with the disk, so that no change between reading and watching is lost; otherwise the
   * current content counts as read by the attempt. May be called, and awaited, while `onChange` runs.
   * @returns a promise that resolves once no later change can be missed.
   */
  watch(files: Iterable<string | FileRead>): Promise<void>;
  /**
   * Runs a write of the gateway itself, which is not reported; later changes are.
   * @param hash of the written content, see `contentHash`. @param write rejects when the file is unchanged.
   */
  write(path: string, hash: string, write: () => Promise<void>): Promise<void>;
  readonly status: WatchStatus;
  /** Stops at once, without waiting for a running `onChange`. Resolves when all handles are closed. */
  close(): Promise<void>;
}

/** Watches nothing until `watch` is called. */
export function watchFiles(options: WatchOptions): Watcher {
  const { onChange, log, events: withEvents = true } = options;
  const times: WatchTimes = { ...defaultWatchTimes, ...options.times };
  const waits = createWaits(options.timers ?? systemTimers);
  const set = watchedSet(options.looksUnfinished ?? looksUnfinished);
  let mode: WatchStatus['mode'] = withEvents ? 'events' : 'poll';
  let closed = false;

  /** Events, and changes that a poll has found, since the start of the last check. */
  let eventCame = false;
  let pollSaw = false;

  const soon = debounce(waits, times, () => look());
  const events = directoryEvents(
    () => {
      eventCame = true;
      soon();
    },
    (error) => fallBack(`the file system reports no changes (${error.message})`),
  );

  const fallBack = (why: string): void => {
    if (closed || mode === 'poll') return;
    mode = 'poll';
    log.warning(`${why}: polling the watched files every ${times.pollMs} ms`);
    schedulePoll();
  };

  let cancelPoll: (() => void) | null = null;
  const schedulePoll = (): void => {
    cancelPoll?.();
    const isFast = mode === 'poll' || set.hasProblem;
    cancelPoll = waits.after(isFast ? times.pollMs : times.slowPollMs, poll);
  };
  const poll = async (): Promise<void> => {
    if (await set.moved()) {
      pollSaw = true;
      soon();
    }
    schedulePoll();
  };

  let arranging: Promise<unknown> = Promise.resolve();
  /** Watches the directories that the files currently resolve through. */
  const arrange = (): Promise<{ readonly moved: boolean; readonly ready: Promise<unknown> }> => {
    const turn = arranging.then(async () => {
      if (closed || !withEvents) return { moved: false, ready: Promise.resolve() };
      const directories = await set.directories();
      const arranged = await events.arrange(directories);
      if (arranged.moved && mode === 'events') {
        for (const directory of directories.keys()) {
          const kind = await lacksEvents(directory);
          if (kind !== null) fallBack(`${directory} is on ${kind}, which does not report every change`);
        }
      }
      return arranged;
    });
    arranging = turn;
    return turn;
  };

  let looking = false;
  let lookAgain = false;
  const look = async (): Promise<void> => {
    if (looking || closed) {
      lookAgain = true;
      return;
    }
    looking = true;
    do {
      lookAgain = false;
      try {
        await lookOnce();
      } catch (error) {
        log.error(() => `cannot check the watched files: ${error}`);
      }
      if (set.hasProblem && !closed) schedulePoll();
    } while (lookAgain && !closed);
    looking = false;
  };

  const lookOnce = async (): Promise<void> => {
    // A change found by a poll does not prove that events are lost, because a file that becomes readable again causes
    // no event.
    const polled = pollSaw && !set.hasProblem;
    const reported = eventCame;
    pollSaw = false;
    eventCame = false;
    const { moved, ready } = await arrange();
    // Changes in a new directory before it was watched have caused no event.
    if (moved) void ready.then(look);
    const { contents, changed } = await settle(set.read, set.differing, waits, times);
    if (closed) return;
    if (changed.length === 0) {
      log.debug('watched files have changed, but have the same content as before');
      return;
    }
    if (polled && !reported && !eventCame && !moved) fallBack(`${changed[0]} has changed without a file event`);
    reportProblems(changed, contents);
    set.accept(changed, contents);
    try {
      await onChange(changed);
    } catch (error) {
      log.error(() => `failed to handle a change of watched files: ${error}`);
    }
  };

  const reportProblems = (changed: readonly string[], contents: Contents): void => {
    for (const path of changed) {
      const problem = contents.get(path)?.problem;
      if (problem) log.warning(`${path} cannot be read (${problem}); it is still watched`);
    }
  };

  return {
    async watch(files) {
      if (closed) return;
      set.replace(files);
      if (cancelPoll === null) schedulePoll();
      await set.read();
      const { ready } = await arrange();
      await ready;
      soon();
    },
    write: (path, hash, write) => set.write(resolve(path), hash, write),
    get status() {
      return { mode, files: set.size };
    },
    async close() {
      closed = true;
      waits.end();
      await events.close();
    },
  };
}
