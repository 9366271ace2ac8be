import { once } from 'node:events';
import { startSluice } from './command.ts';

/** A command that goes on until it is ended. */
export interface Running {
  /** Waits until it has printed what the pattern finds. @throws Error with what it printed when it ends before. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  kill(signal: NodeJS.Signals): void;
  /** Its exit code, when it has ended; null when a signal ended it. */
  readonly ended: Promise<number | null>;
  /** Ends it at once. */
  stop(): Promise<void>;
  readonly isRunning: boolean;
  /** What it has printed. */
  readonly output: string;
}

/** Starts a command. @param env variables besides those of this process. */
export function startRunning(env: NodeJS.ProcessEnv, ...args: string[]): Running {
  const child = startSluice(env, ...args);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  return {
    ended,
    get isRunning() {
      return isRunning();
    },
    get output() {
      return text;
    },
    kill: (signal) => void child.kill(signal),
    async printed(pattern) {
      for (;;) {
        const found = pattern.exec(text);
        if (found) return found;
        if (!isRunning()) throw new Error(`it ended before it printed ${pattern}:\n${text}`);
        await Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data'), ended]);
      }
    },
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
