import type { LogDestination, LogLevel, LogSink } from '#contract';

/** A sink with the handles its owner needs. */
export interface Sink extends LogSink {
  /** Writes, at once and blocking, what waits; for the exit of the process only. */
  flushSync(): void;
  /** Hands what waits to the destination, unless it is still busy. */
  flush(): void;
  /** Resolves when nothing waits any more. */
  drained(): Promise<void>;
}

export interface SinkOptions {
  /** Text that may wait, in characters. Default 1 MiB. */
  readonly limit?: number;
  /** Waiting text that is written without further delay, in characters. Default 64 KiB. */
  readonly flushAt?: number;
}

/** Between two writes of less than `flushAt`: lines of a busy gateway share a write, a single line shows at once. */
const PAUSE_MS = 100;

const importance: Readonly<Record<LogLevel, number>> = { DEBUG: 0, INFO: 1, WARNING: 2, ERROR: 3, CRITICAL: 4 };

/**
 * Collects lines in memory and hands them over in large pieces, one at a time. While the destination is busy lines wait;
 * beyond the limit the oldest DEBUG and INFO lines are dropped, then the oldest of the others.
 */
export function createSink(destination: LogDestination, options: SinkOptions = {}): Sink {
  const { limit = 1024 * 1024, flushAt = 64 * 1024 } = options;
  let lines: string[] = [];
  let ranks: number[] = [];
  let size = 0;
  /** Part of `size` that belongs to DEBUG and INFO lines. */
  let minorSize = 0;
  let lost = 0;
  let inFlight = 0;
  let scheduled = false;
  let timer: NodeJS.Timeout | null = null;
  let flushedAt = Number.NEGATIVE_INFINITY;
  let waiting: (() => void)[] = [];

  const write = (line: string, level: LogLevel): void => {
    const rank = importance[level];
    lines.push(line);
    ranks.push(rank);
    size += line.length;
    if (rank < 2) minorSize += line.length;
    if (size > limit) shed(line.length, rank);
    if (inFlight > 0) return;
    if (size >= flushAt) flush();
    else if (!scheduled) schedule();
  };

  const schedule = (): void => {
    scheduled = true;
    const idleMs = performance.now() - flushedAt;
    if (idleMs >= PAUSE_MS) setImmediate(flush);
    else timer = setTimeout(flush, PAUSE_MS - idleMs).unref();
  };

  const flush = (): void => {
    scheduled = false;
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (inFlight > 0 || lines.length === 0) return;
    inFlight = lines.length;
    const text = take();
    flushedAt = performance.now();
    destination.write(text, done);
  };

  const done = (error?: Error | null): void => {
    if (error) lost += inFlight;
    inFlight = 0;
    if (size >= flushAt) flush();
    else if (lines.length > 0 && !scheduled) schedule();
    if (lines.length > 0 || inFlight > 0) return;
    const resolvers = waiting;
    waiting = [];
    for (const resolve of resolvers) resolve();
  };

  const take = (): string => {
    const text = lines.length === 1 ? lines[0]! : lines.join('');
    lines = [];
    ranks = [];
    size = 0;
    minorSize = 0;
    return text;
  };

  const shed = (newestLength: number, newestRank: number): void => {
    if (newestRank < 2 && minorSize === newestLength) {
      lines.pop();
      ranks.pop();
      size -= newestLength;
      minorSize = 0;
      lost += 1;
      return;
    }
    // More than needed goes at once, so that the walk is not taken again for every line.
    dropOldest(limit - (limit >> 3), 2);
    if (size > limit) dropOldest(limit - (limit >> 3), Number.POSITIVE_INFINITY);
  };

  const dropOldest = (target: number, belowRank: number): void => {
    let kept = 0;
    for (let at = 0; at < lines.length; at++) {
      const line = lines[at]!;
      const rank = ranks[at]!;
      if (size > target && rank < belowRank) {
        size -= line.length;
        if (rank < 2) minorSize -= line.length;
        lost += 1;
        continue;
      }
      lines[kept] = line;
      ranks[kept] = rank;
      kept += 1;
    }
    lines.length = kept;
    ranks.length = kept;
  };

  return {
    terminal: destination.terminal ?? false,
    get lost() {
      return lost;
    },
    write,
    flush,
    flushSync() {
      if (lines.length === 0) return;
      const count = lines.length;
      const text = take();
      if (destination.writeSync) destination.writeSync(text);
      else lost += count;
    },
    drained() {
      if (lines.length === 0 && inFlight === 0) return Promise.resolve();
      const promise = new Promise<void>((resolve) => waiting.push(resolve));
      flush();
      return promise;
    },
  };
}
