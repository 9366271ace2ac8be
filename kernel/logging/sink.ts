import { boundToOwner, type LogDestination, type LogLevel, type LogSink } from '#contract';
import { LineBuffer } from './line-buffer.ts';

/** A sink with the methods that its owner needs. */
export interface Sink extends LogSink {
  /** Writes the pending lines synchronously, blocking; only for the exit of the process. */
  flushSync(): void;
  /** Passes the pending lines to the destination, unless it is still busy. */
  flush(): void;
  /** Resolves when no lines are pending. */
  drained(): Promise<void>;
}

export interface SinkOptions {
  /** Maximum size of pending lines, in bytes. Default: 1 MiB. */
  readonly limit?: number;
  /** Size of pending lines that triggers an immediate write, in bytes. Default: 64 KiB. */
  readonly flushAt?: number;
}

/**
 * Delay in milliseconds before less than `flushAt` is written. Lines of a busy gateway are written together, and a
 * single line still appears promptly.
 */
const PAUSE_MS = 100;
/** Default limit of pending lines, in bytes. */
const ROOM_BYTES = 1024 * 1024;

/** Levels to keep when a sink must drop lines; those of the other levels are dropped first. */
const majorLevels: ReadonlySet<LogLevel> = new Set(['WARNING', 'ERROR', 'CRITICAL']);

/**
 * Creates a sink that collects lines in memory and passes them to the destination in large pieces, one at a time. While
 * the destination is busy, lines wait; beyond the limit, the oldest DEBUG and INFO lines are dropped, then the oldest
 * of the others.
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

  /** The timer has no owner, because the lines of many requests share one write. */
  const schedule = boundToOwner((): void => {
    scheduled = true;
    const idleMs = performance.now() - flushedAt;
    if (idleMs >= PAUSE_MS) setImmediate(flush);
    else timer = setTimeout(flush, PAUSE_MS - idleMs).unref();
  });

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
