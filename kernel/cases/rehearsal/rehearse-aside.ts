import { type ChildProcess, fork } from 'node:child_process';
import { connectionOwner, GatewayError, runOwned } from '../../contract/internal.ts';
import type { Next } from '../../control/participant.ts';
import type { Snapshot } from '../../control/snapshot.ts';
import type { Operations } from '../../gateway/operations.ts';
import { Channel } from '../../workers/channel.ts';
import type { RehearsalOrder, Rehearsals, SentConfiguration } from './rehearsal-process.ts';

/** Maximum size of the JavaScript objects in the process of a rehearsal, in MiB. */
const MAX_HEAP_MIB = 512;

/** Time limit of a rehearsal, in milliseconds. */
const TIMEOUT_MS = 60_000;

/** The members of a gateway that rehearsals use. */
export type RehearsingGateway = Pick<Operations, 'recordings' | 'serving' | 'rehearsals'>;

export interface Rehearsal<Task extends keyof Rehearsals> {
  readonly task: Task;
  /** Maximum number of recorded requests. */
  readonly count: number;
  /** Input of the task in addition to that of every rehearsal. */
  readonly input: Omit<Parameters<Rehearsals[Task]>[0], keyof RehearsalOrder>;
}

/**
 * Rehearses a change with the latest recorded requests in a process of its own, so that it takes no time of the code
 * that serves requests.
 * @throws ConfigErrors if a configuration cannot be opened; GatewayError CHANNEL_CLOSED if the process ends, for example
 * because it needs too much memory; Error without recordings, and if it is late; the reason of the change's signal.
 */
export async function rehearseAside<Task extends keyof Rehearsals>(
  gateway: RehearsingGateway,
  { snapshot, signal }: Pick<Next, 'snapshot' | 'signal'>,
  { task, count, input }: Rehearsal<Task>,
): Promise<Awaited<ReturnType<Rehearsals[Task]>>> {
  signal.throwIfAborted();
  const { program, pluginFolder } = gateway.rehearsals;
  const har = gateway.recordings(count);
  if (har === null) throw new Error('the active configuration does not record requests');
  const order = { har, next: sent(snapshot), baseline: sent(gateway.serving.snapshot), pluginFolder, ...input };
  let child: ChildProcess | null = null;
  const kill = (): void => void child?.kill('SIGKILL');
  try {
    return await runOwned(connectionOwner('replay', 'a process that replays requests', kill), () => {
      child = fork(program, ['rehearse'], {
        execArgv: [`--max-old-space-size=${MAX_HEAP_MIB}`],
        serialization: 'advanced',
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      });
      return ask(child, { task, order }, signal, kill);
    });
  } finally {
    kill();
    signal.removeEventListener('abort', kill);
  }
}

function sent({ text, format }: Snapshot): SentConfiguration {
  return { text, format };
}

async function ask(
  child: ChildProcess,
  { task, order }: { readonly task: string; readonly order: object },
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
    return (await channel.ask(task, order, TIMEOUT_MS)) as never;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof GatewayError && error.code === 'CHANNEL_TIMEOUT') {
      throw new Error(`not finished within ${TIMEOUT_MS / 1000} s`, { cause: error });
    }
    throw error;
  }
}
