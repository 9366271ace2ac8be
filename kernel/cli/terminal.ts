/** What a command prints on, and the variables it is called with. A process is one. */
export interface Terminal {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  readonly env: Readonly<NodeJS.ProcessEnv>;
}

/** Colours are for people who look: on a terminal, unless NO_COLOR is set. */
export function isColoured(stream: NodeJS.WritableStream, { env }: Terminal): boolean {
  return (stream as { isTTY?: boolean }).isTTY === true && !env.NO_COLOR;
}

/** Rows of cells as lines: columns aligned, two spaces between them, nothing behind the last one. */
export function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  }
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join('  ')
      .trimEnd(),
  );
}

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
