import type { LogDestination, LogLevel, LogSink } from '#contract';
import { LineBuffer } from './line-buffer.ts';

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
  /** Lines that may wait, in bytes. Default 1 MiB. */
  readonly limit?: number;
  /** Waiting lines that are written without further delay, in bytes. Default 64 KiB. */
  readonly flushAt?: number;
}

/** Between two writes of less than `flushAt`: lines of a busy gateway share a write, a single line shows at once. */
const PAUSE_MS = 100;
/** Default limit of waiting lines. */
const ROOM_BYTES = 1024 * 1024;

/** When a sink must drop lines, those of the levels below give way to the others. */
const majorLevels: ReadonlySet<LogLevel> = new Set(['WARNING', 'ERROR', 'CRITICAL']);

/**
 * Collects lines in memory and hands them over in large pieces, one at a time. While the destination is busy lines wait;
 * beyond the limit the oldest DEBUG and INFO lines are dropped, then the oldest of the others.
 */
export function createSink(destination: LogDestination, options: SinkOptions = {}): Sink {
  const { limit = ROOM_BYTES, flushAt = 64 * 1024 } = options;
  let waiting = new LineBuffer(limit);
  let handedOver = new LineBuffer(limit);
  let lost = 0;
  let busy = false;
  let scheduled = false;
  let timer: NodeJS.Timeout | null = null;
  let flushedAt = Number.NEGATIVE_INFINITY;
  let onDrained: (() => void)[] = [];

  const write = (line: string, level: LogLevel): void => {
    lost += waiting.add(line, majorLevels.has(level));
    if (busy) return;
    if (waiting.size >= flushAt) flush();
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
    if (busy || waiting.lines === 0) return;
    busy = true;
    [waiting, handedOver] = [handedOver, waiting];
    flushedAt = performance.now();
    destination.write(handedOver.bytes, done);
  };

  const done = (error?: Error | null): void => {
    if (error) lost += handedOver.lines;
    handedOver.clear();
    busy = false;
    if (waiting.size >= flushAt) flush();
    else if (waiting.lines > 0 && !scheduled) schedule();
    if (waiting.lines > 0 || busy) return;
    const resolvers = onDrained;
    onDrained = [];
    for (const resolve of resolvers) resolve();
  };

  return {
    terminal: destination.terminal ?? false,
    get lost() {
      return lost;
    },
    write,
    flush,
    flushSync() {
      if (waiting.lines === 0) return;
      if (destination.writeSync) destination.writeSync(waiting.bytes);
      else lost += waiting.lines;
      waiting.clear();
    },
    drained() {
      if (waiting.lines === 0 && !busy) return Promise.resolve();
      const promise = new Promise<void>((resolve) => onDrained.push(resolve));
      flush();
      return promise;
    },
  };
}
