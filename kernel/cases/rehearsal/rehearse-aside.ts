import { GatewayError } from '../../contract/internal.ts';
import type { Next } from '../../control/participant.ts';
import type { Operations } from '../../gateway/operations.ts';
import { startRehearsalChild } from './rehearsal-child.ts';
import type { RehearsalOrder, Rehearsals } from './rehearsal-process.ts';
import { sent } from './sent-configuration.ts';

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
  const child = startRehearsalChild(program, 'replay', 'a process that replays requests');
  signal.addEventListener('abort', child.kill);
  try {
    return (await child.channel.ask(task, order, TIMEOUT_MS)) as never;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof GatewayError && error.code === 'CHANNEL_TIMEOUT') {
      throw new Error(`not finished within ${TIMEOUT_MS / 1000} s`, { cause: error });
    }
    throw error;
  } finally {
    child.kill();
    signal.removeEventListener('abort', child.kill);
  }
}
