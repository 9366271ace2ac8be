import { type ChildProcess, type Serializable, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';

/** A process of the benchmark. Its output goes to a file, so that no CPU time is spent on reading it. */
export interface Child {
  readonly pid: number;
  /** Resolves with a description when the process has ended. */
  readonly ended: Promise<string>;
  /** Combined stdout and stderr. */
  output(): string;
  /** Sends a message over IPC and returns the next one received. @throws Error after `timeoutMs`, or when the process ends first. */
  message<T>(timeoutMs: number, question?: Serializable): Promise<T>;
  /** Stops the process: gracefully at first, by force after two seconds. */
  stop(): Promise<void>;
}

const GRACE_MS = 2000;
const running = new Set<ChildProcess>();

process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
/** For the main file of a command: makes a signal end it like any other exit, so that no child process is left running. */
export function exitOnSignals(): void {
  process.once('SIGINT', () => process.exit(130));
  process.once('SIGTERM', () => process.exit(143));
}

/**
 * Starts a process that does not outlive this one.
 * @param logFile file for its output.
 * @param options.ipc opens a message channel.
 */
export function start(
  command: readonly string[],
  logFile: string,
  options: { ipc?: boolean; env?: Readonly<Record<string, string>> } = {},
): Child {
  const log = openSync(logFile, 'w');
  const child = spawn(command[0]!, command.slice(1), {
    stdio: ['ignore', log, log, ...(options.ipc ? (['ipc'] as const) : [])],
    env: { ...process.env, ...options.env },
  });
  closeSync(log);
  running.add(child);
  const ended = new Promise<string>((resolve) => {
    const end = (how: string) => {
      running.delete(child);
      resolve(how);
    };
    child.once('error', (error) => end(error.message));
    child.once('exit', (code, signal) => end(signal ? `ended by ${signal}` : `ended with code ${code}`));
  });
  const output = () => readFileSync(logFile, 'utf8');
  return {
    pid: child.pid ?? 0,
    ended,
    output,
    message: <T>(timeoutMs: number, question?: Serializable) => {
      const response = new Promise<T>((resolve) => child.once('message', (message) => resolve(message as T)));
      if (question !== undefined) child.send(question);
      const name = command.join(' ');
      const failed = ended.then((how) => Promise.reject(new Error(`${name}: ${how}\n${output().slice(-2000)}`)));
      return within(Promise.race([response, failed]), timeoutMs, `${name}: no message`);
    },
    stop: async () => {
      child.kill('SIGTERM');
      const force = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
      await ended;
      clearTimeout(force);
    },
  };
}

/** Adds a timeout to a promise. @throws Error with the text when it takes longer than `timeoutMs`. */
export function within<T>(promise: Promise<T>, timeoutMs: number, text: string): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`${text} within ${timeoutMs} ms`)), timeoutMs);
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
