import { type ChildProcess, fork } from 'node:child_process';
import { connectionOwner, GatewayError, runOwned } from '../../contract/internal.ts';
import { Channel } from '../../workers/channel.ts';
import type { HelperTasks } from './helper.ts';

/** Maximum size of the JavaScript objects in the process of a replay, in MiB. */
const MAX_HEAP_MIB = 512;

export interface AsideOptions {
  /** Program of the process. */
  readonly program: string;
  /** Time limit of the replay, in milliseconds. */
  readonly timeoutMs: number;
  /** Aborts the replay. */
  readonly signal: AbortSignal;
}

/**
 * Replays recorded requests in a process of its own, so that they take no time of the code that serves requests.
 * @param task of that process.
 * @throws ConfigErrors if a configuration cannot be opened; GatewayError CHANNEL_CLOSED if the process ends, for example
 * because it needs too much memory; Error if it is late; the reason of the signal.
 */
export async function replayAside<Task extends keyof HelperTasks>(
  task: Task,
  order: Parameters<HelperTasks[Task]>[0],
  options: AsideOptions,
): Promise<Awaited<ReturnType<HelperTasks[Task]>>> {
  const { program, timeoutMs, signal } = options;
  signal.throwIfAborted();
  let child: ChildProcess | null = null;
  const kill = (): void => void child?.kill('SIGKILL');
  try {
    return await runOwned(connectionOwner('replay', 'a process that replays requests', kill), () => {
      child = fork(program, ['helper'], {
        execArgv: [`--max-old-space-size=${MAX_HEAP_MIB}`],
        serialization: 'advanced',
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      });
      return ask(child, { task, order }, timeoutMs, signal, kill);
    });
  } finally {
    kill();
    signal.removeEventListener('abort', kill);
  }
}

async function ask(
  child: ChildProcess,
  { task, order }: { readonly task: string; readonly order: object },
  timeoutMs: number,
  signal: AbortSignal,
  kill: () => void,
): Promise<never> {
  const channel = new Channel(child, {});
  const end = () => channel.close();
  child.once('exit', end);
  // A process that cannot be started has no exit.
  child.once('error', end);
  signal.addEventListener('abort', kill);
  try {
    return (await channel.ask(task, order, timeoutMs)) as never;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof GatewayError && error.code === 'CHANNEL_TIMEOUT') {
      throw new Error(`not finished within ${timeoutMs / 1000} s`, { cause: error });
    }
    throw error;
  }
}
