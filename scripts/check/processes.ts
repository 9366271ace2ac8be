import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/**
 * Time limit of a run, in minutes; a longer one is terminated and fails, because a test left something open. Ten times
 * the duration on an otherwise idle machine with two processors.
 */
const LIMIT_MINUTES = 60;

/** Output of a program, and whether it exited with 0. */
export interface Result {
  readonly name: string;
  readonly ok: boolean;
  readonly output: readonly string[];
}

/**
 * Runs a program.
 * @param name of the program in a report of its end.
 * @param shown true to print its output as it arrives.
 * @param env environment variables in addition to those of this process.
 */
export function run(
  name: string,
  command: string,
  args: readonly string[],
  shown: boolean,
  env: Readonly<Record<string, string>> = {},
): Promise<Result> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
    const output: string[] = [];
    const collect = (line: string) => {
      output.push(line);
      if (shown) console.log(line);
    };
    createInterface({ input: child.stdout }).on('line', collect);
    createInterface({ input: child.stderr }).on('line', collect);
    const limit = setTimeout(() => {
      collect(`${name} did not end within ${LIMIT_MINUTES} minutes`);
      child.kill('SIGKILL');
      // Processes that the program started may still run and would keep these pipes open.
      child.stdout.destroy();
      child.stderr.destroy();
    }, LIMIT_MINUTES * 60_000);
    const end = (ok: boolean) => {
      clearTimeout(limit);
      resolve({ name, ok, output });
    };
    child.once('error', (error) => {
      collect(String(error));
      end(false);
    });
    child.once('close', (code) => end(code === 0));
  });
}
