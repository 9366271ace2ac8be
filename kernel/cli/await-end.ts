import type { Operations } from '../index.ts';
import type { CommandContext } from './command.ts';
import { counted } from './formats/counted.ts';

/**
 * Waits until a gateway must stop: for SIGTERM, SIGINT or `stop`; a second signal exits immediately. SIGHUP reloads the
 * configuration.
 */
export function awaitEnd(
  gateway: Operations,
  { stderr, signals, exit }: CommandContext,
): { readonly ended: Promise<void>; stop(reason: string): void } {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  let stopping = false;
  const stop = (reason: string): void => {
    if (stopping) return;
    stopping = true;
    void gateway.processes.countInFlight().then((count) => {
      stderr.write(`${reason}: waiting for ${counted(count, 'request')} in flight\n`);
    });
    resolve();
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping) return exit(1);
    stop(signal);
  };
  // A rejected configuration is logged; the old one stays active.
  signals.on('SIGHUP', () => gateway.apply({ trigger: 'signal' }).catch(() => {}));
  signals.on('SIGTERM', onSignal);
  signals.on('SIGINT', onSignal);
  return { ended, stop };
}
