import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { Writable } from 'node:stream';
import type { LogSinks } from '#contract';
import type { CommandContext } from '../../../kernel/cli/command.ts';
import { main } from '../../../kernel/cli/main.ts';
import type { StartAdmin } from '../../../kernel/index.ts';
import { catalogue } from '../../../plugins/index.ts';

const program = new URL('../../../kernel/bin.ts', import.meta.url).pathname;

/** A command that goes on until it is ended. */
export interface Running {
  /** Waits until it has printed what the pattern finds. @throws Error with what it printed when it ends before. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  kill(signal: NodeJS.Signals): void;
  /** Its exit code, when it has ended; null when a signal ended it. */
  readonly ended: Promise<number | null>;
  readonly isRunning: boolean;
  /** What it has printed on standard output. */
  readonly out: string;
  /** What it has printed on standard error. */
  readonly err: string;
  /** Both, as they came. */
  readonly output: string;
}

/** A command in a process of its own. */
export interface Process extends Running {
  /** Ends it at once. */
  stop(): Promise<void>;
  /** Reads its standard output no more. */
  closeOutput(): void;
}

/** What a command prints, kept as it comes. */
class Prints extends EventEmitter {
  out = '';
  err = '';
  output = '';

  add(stream: 'out' | 'err', chunk: unknown): void {
    this[stream] += chunk;
    this.output += chunk;
    this.emit('more');
  }
}

const startAdmin: StartAdmin = async (...args) => (await import('../../../admin/index.ts')).startAdmin(...args);

/** What a command of this process works with, and what it prints. @param env variables besides those of this process. */
export function contextOf(env: NodeJS.ProcessEnv) {
  const prints = new Prints();
  const stream = (name: 'out' | 'err') =>
    new Writable({
      write(chunk, _encoding, done) {
        prints.add(name, chunk);
        done();
      },
    });
  const sink = (name: 'out' | 'err') => ({
    terminal: false,
    lost: 0,
    write: (line: string) => prints.add(name, line),
  });
  const sinks: LogSinks = {
    stdout: sink('out'),
    stderr: sink('err'),
    lost: 0,
    open: () => ({ ...sink('out'), close() {} }),
  };
  const signals = new EventEmitter();
  const context: CommandContext = {
    stdout: stream('out'),
    stderr: stream('err'),
    sinks,
    env: { ...process.env, ...env },
    signals,
    exit: (code) => {
      throw new Error(`the process would have ended with ${code}`);
    },
    program,
    catalogue,
    startAdmin,
  };
  return { context, prints, signals };
}

/** Starts a command in this process. @param env variables besides those of this process. */
export function startCommand(env: NodeJS.ProcessEnv, ...args: string[]): Running {
  const { context, prints, signals } = contextOf(env);
  return running(prints, main(args, context), (signal) => void signals.emit(signal));
}

/**
 * Starts a command in a process of its own: for what only a process shows, and to serve.
 * @param env variables besides those of this process.
 */
export function startProcess(env: NodeJS.ProcessEnv, ...args: string[]): Process {
  return startProgram(program, env, ...args);
}

/** Starts another program that takes the same commands. @param env variables besides those of this process. */
export function startProgram(file: string, env: NodeJS.ProcessEnv, ...args: string[]): Process {
  const child = spawn(process.execPath, [file, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  const prints = new Prints();
  child.stdout.on('data', (chunk) => prints.add('out', chunk));
  child.stderr.on('data', (chunk) => prints.add('err', chunk));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return Object.assign(
    running(prints, ended, (signal) => void child.kill(signal)),
    {
      async stop() {
        child.kill('SIGKILL');
        await ended;
      },
      closeOutput: () => void child.stdout.destroy(),
    },
  );
}

function running(prints: Prints, ended: Promise<number | null>, kill: Running['kill']): Running {
  let isRunning = true;
  const isOver = () => {
    isRunning = false;
  };
  ended.then(isOver, isOver);
  return {
    ended,
    kill,
    get isRunning() {
      return isRunning;
    },
    get out() {
      return prints.out;
    },
    get err() {
      return prints.err;
    },
    get output() {
      return prints.output;
    },
    async printed(pattern) {
      for (;;) {
        const results = pattern.exec(prints.output);
        if (results) return results;
        if (!isRunning) throw new Error(`it ended before it printed ${pattern}:\n${prints.output}`);
        await Promise.race([once(prints, 'more'), ended]);
      }
    },
  };
}
