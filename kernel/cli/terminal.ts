/** Output streams and environment variables of a command. A process is one. */
export interface Terminal {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  readonly env: Readonly<NodeJS.ProcessEnv>;
}

/** Whether to use colors: on a terminal, unless NO_COLOR is set. */
export function isColoured(stream: NodeJS.WritableStream, { env }: Terminal): boolean {
  return (stream as { isTTY?: boolean }).isTTY === true && !env.NO_COLOR;
}

/** Formats rows of cells as lines: aligned columns, separated by two spaces, without trailing spaces. */
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
 * Prevents a failing output stream from ending the process: a reader may close it after reading enough.
 * @returns a function that waits until the output has been written or has failed; it returns the error, or null when
 * the reader closed the stream or read everything.
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
