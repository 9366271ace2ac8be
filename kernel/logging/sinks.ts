import type { LogDestination, LogSinks } from '#contract';
import { toStandard } from './destination.ts';
import { createSink, type Sink } from './sink.ts';

/** The sinks of the process, with the methods that its owner needs. */
export interface ProcessSinks extends LogSinks {
  /** Resolves when every line is written, or after `timeoutMs`: for an orderly shutdown. */
  drain(timeoutMs: number): Promise<void>;
  /** Writes the pending lines, blocking, and detaches from the process. */
  close(): void;
}

/** Destinations of the sinks; tests use their own. */
export interface Standard {
  readonly stdout: LogDestination;
  readonly stderr: LogDestination;
}

/** Creates the sinks; lines that are pending when the process exits are written then. */
export function createSinks(standard: Partial<Standard> = {}): ProcessSinks {
  const stdout = createSink(standard.stdout ?? toStandard(1));
  const stderr = createSink(standard.stderr ?? toStandard(2));
  const sinks = new Set<Sink>([stdout, stderr]);
  let lostBefore = 0;

  const flushAll = (): void => {
    for (const sink of sinks) sink.flushSync();
  };
  process.on('exit', flushAll);

  return {
    stdout,
    stderr,
    open(destination) {
      const sink = createSink(destination);
      sinks.add(sink);
      return {
        terminal: sink.terminal,
        get lost() {
          return sink.lost;
        },
        write: sink.write,
        close() {
          if (!sinks.delete(sink)) return;
          sink.flush();
          lostBefore += sink.lost;
        },
      };
    },
    get lost() {
      let lost = lostBefore;
      for (const sink of sinks) lost += sink.lost;
      return lost;
    },
    drain(timeoutMs) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, timeoutMs);
      });
      const all = Promise.all(Array.from(sinks, (sink) => sink.drained())).then(() => {});
      return Promise.race([all, late]).finally(() => clearTimeout(timer));
    },
    close() {
      process.off('exit', flushAll);
      flushAll();
    },
  };
}
