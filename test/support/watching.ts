import { deepEqual, equal } from 'node:assert/strict';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Log, LogMessage } from '#contract';
import { silentLog } from '../../kernel/contract/internal.ts';
import {
  type FileRead,
  type Watcher,
  type WatchOptions,
  type WatchTimes,
  watchFiles,
} from '../../kernel/runtime/watch/index.ts';

/** Short times that tolerate the writes of the test. Changes are only detected by events. */
const QUICK: WatchTimes = {
  quietMs: 30,
  longestMs: 300,
  stabilityMs: 10,
  patienceMs: 5_000,
  retries: 100,
  pollMs: 40,
  slowPollMs: 600_000,
};

export interface Watching {
  /** A new directory. */
  readonly home: string;
  /** Path of `gateway.json` in the directory, which contains `{"a": 1}`. */
  readonly file: string;
  readonly watcher: Watcher;
  readonly warnings: readonly string[];
  readonly errors: readonly string[];
  /** The arguments of each call of `onChange`. */
  readonly reported: readonly (readonly string[])[];
  start(
    files: Iterable<string | FileRead>,
    options?: Omit<Partial<WatchOptions>, 'times'> & { readonly times?: Partial<WatchTimes> },
  ): Promise<void>;
  /** The next call that was not returned yet. */
  next(): Promise<readonly string[]>;
  /** Changes another watched file and expects that only this change is reported. */
  nothingElseThan(marker: string): Promise<void>;
  end(): Promise<void>;
}

export async function openWatching(): Promise<Watching> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'watch-')));
  const file = join(home, 'gateway.json');
  await writeFile(file, '{"a": 1}');
  const reported: (readonly string[])[] = [];
  const warnings: string[] = [];
  const errors: string[] = [];
  const into = (lines: string[]) => (message: LogMessage) => {
    lines.push(typeof message === 'string' ? message : message());
  };
  const log: Log = { ...silentLog, warning: into(warnings), error: into(errors) };
  let watcher: Watcher | null = null;
  let taken = 0;
  let wake = () => {};

  const next = async (): Promise<readonly string[]> => {
    while (reported.length === taken) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    return reported[taken++]!;
  };

  return {
    home,
    file,
    warnings,
    errors,
    reported: reported,
    next,
    get watcher() {
      return watcher!;
    },
    async start(files, { onChange, times, ...options } = {}) {
      watcher = watchFiles({
        log,
        ...options,
        times: { ...QUICK, ...times },
        async onChange(changed) {
          reported.push(changed);
          wake();
          await onChange?.(changed);
        },
      });
      await watcher.watch(files);
    },
    async nothingElseThan(marker) {
      await writeFile(marker, `{"now": ${Math.random()}}`);
      deepEqual(await next(), [marker]);
      equal(reported.length, 1);
    },
    async end() {
      await watcher?.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}
