import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { Writable } from 'node:stream';
import type { LogSinks } from '#contract';
import type { CommandContext } from '../../../kernel/cli/command.ts';
import { main } from '../../../kernel/cli/main.ts';
import type { StartAdmin } from '../../../kernel/index.ts';
import { catalogue } from '../../../plugins/index.ts';
import { command as program } from '../../support/programs.ts';

/** A command that runs until it is stopped. */
export interface Running {
  /** Waits until the output matches the pattern. @throws Error with the output if the command ends before. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  kill(signal: NodeJS.Signals): void;
  /** Exit code of the command; null if a signal ended it. */
  readonly ended: Promise<number | null>;
  readonly isRunning: boolean;
  /** Standard output so far. */
  readonly out: string;
  /** Standard error so far. */
  readonly err: string;
  /** Standard output and standard error, in order of arrival. */
  readonly output: string;
}

/** A command in a process of its own. */
export interface Process extends Running {
  /** Kills the command. */
  stop(): Promise<void>;
  /** Closes the reader of the standard output of the command. */
  closeOutput(): void;
}

/** Output of a command, recorded as it arrives. */
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

/** Environment of a command in this process, and its output. @param env additional environment variables. */
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

/** Starts a command in this process. @param env additional environment variables. */
export function startCommand(env: NodeJS.ProcessEnv, ...args: string[]): Running {
  const { context, prints, signals } = contextOf(env);
  return running(prints, main(args, context), (signal) => void signals.emit(signal));
}

/**
 * Starts a command in a separate process, to serve or for effects that only a process has. @param env additional environment variables.
 */
export function startProcess(env: NodeJS.ProcessEnv, ...args: string[]): Process {
  return startProgram(program, env, ...args);
}

/** Starts another program with the same commands. @param env additional environment variables. */
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
