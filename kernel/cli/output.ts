import type { Terminal } from './terminal.ts';

/**
 * Keeps a stream that takes no more from ending the process: whoever reads it may leave when they have seen enough.
 * @returns waits until what was written has been taken, or cannot be; null when the reader has left or taken it all.
 */
export function guardOutput({ stdout, stderr }: Terminal): () => Promise<Error | null> {
  let failure: Error | null = null;
  stderr.on('error', () => {});
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') failure ??= error;
  });
  return async () => {
    await new Promise<void>((resolve) => stdout.write('', () => resolve()));
    return failure;
  };
}
