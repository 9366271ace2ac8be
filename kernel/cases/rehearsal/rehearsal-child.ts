import { type ChildProcess, fork } from 'node:child_process';
import { connectionOwner, runOwned } from '../../contract/internal.ts';
import { Channel } from '../../workers/channel.ts';

/** Maximum size of the JavaScript objects in the process, in MiB. */
const MAX_HEAP_MIB = 512;

/** A process of the gateway that runs configurations without serving them. */
export interface RehearsalChild {
  readonly channel: Channel;
  /** Ends the process at once. */
  kill(): void;
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
}

/**
 * Starts a process whose `rehearse` command takes tasks from the channel.
 * @param place of its errors in this process, for example `replay`. @param about the process in the log.
 * @throws the system's error if the process cannot be created.
 */
export function startRehearsalChild(program: string, place: string, about: string): RehearsalChild {
  let child: ChildProcess | null = null;
  const kill = (): void => void child?.kill('SIGKILL');
  return runOwned(connectionOwner(place, about, kill), () => {
    const started = fork(program, ['rehearse'], {
      execArgv: [`--max-old-space-size=${MAX_HEAP_MIB}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    child = started;
    const channel = new Channel(started, {});
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const end = (): void => {
      channel.close();
      resolve();
    };
    started.once('exit', end);
    // A process that cannot be started has no exit.
    started.once('error', end);
    return { channel, kill, ended };
  });
}
