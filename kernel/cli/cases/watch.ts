import { watch } from 'chokidar';
import type { CommandContext } from '../command.ts';

/** Time without further changes before tests run again, in milliseconds. */
const SETTLE_MS = 100;

/** Runs a function now and after every change of files or folders, until SIGINT or SIGTERM. */
export async function runOnChanges(
  paths: readonly string[],
  { signals, stderr }: Pick<CommandContext, 'signals' | 'stderr'>,
  run: () => Promise<unknown>,
): Promise<void> {
  const ended = Promise.withResolvers<void>();
  let changed = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout | null = null;
  const watcher = watch([...paths], {
    ignoreInitial: true,
    ignored: (path) => /(?:^|[\\/])(?:node_modules|\.[^\\/.][^\\/]*)$/.test(path),
  });
  watcher.on('all', () => {
    if (timer) clearTimeout(timer);
    timer = setTimeout(() => changed.resolve(), SETTLE_MS);
  });
  watcher.on('error', (error) => stderr.write(`ERROR cannot watch files: ${(error as Error).message}\n`));
  let isEnding = false;
  const end = (): void => {
    isEnding = true;
    ended.resolve();
  };
  signals.once('SIGINT', end);
  signals.once('SIGTERM', end);
  await new Promise<void>((resolve) => watcher.once('ready', resolve));
  while (!isEnding) {
    changed = Promise.withResolvers();
    await run();
    stderr.write('Waiting for changes; Ctrl+C ends.\n');
    await Promise.race([changed.promise, ended.promise]);
  }
  if (timer) clearTimeout(timer);
  signals.off('SIGINT', end);
  signals.off('SIGTERM', end);
  await watcher.close();
}
