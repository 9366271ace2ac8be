/** Output streams and environment variables of a command. The global `process` is one implementation. */
export interface Terminal {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  readonly env: Readonly<NodeJS.ProcessEnv>;
}

/** Whether to use colors: on a terminal, unless NO_COLOR is set. */
export function isColoured(stream: NodeJS.WritableStream, { env }: Terminal): boolean {
  return (stream as { isTTY?: boolean }).isTTY === true && !env.NO_COLOR;
}

/** Columns of a terminal; infinite for files and pipes. */
export function terminalWidth(stream: NodeJS.WritableStream): number {
  const { isTTY, columns } = stream as { isTTY?: boolean; columns?: number };
  return isTTY && columns ? columns : Infinity;
}

/**
 * Formats rows of cells as lines: aligned columns, separated by two spaces, without trailing spaces.
 * @param width maximum length of a line; the longest cells are shortened to fit.
 */
export function alignColumns(rows: readonly (readonly string[])[], width = Infinity): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  }
  const longest = longestCell(widths, width - GAP.length * (widths.length - 1));
  return rows.map((row) =>
    row
      .map((cell, at) => shorten(cell, longest).padEnd(Math.min(widths[at]!, longest)))
      .join(GAP)
      .trimEnd(),
  );
}

const GAP = '  ';

/** Minimum length to which a cell is shortened, even if lines do not fit. */
const SHORTEST_CELL = 8;

/** The length to which cells are shortened so that all columns fit: space that narrow columns do not need is given to wide ones. */
function longestCell(widths: readonly number[], room: number): number {
  let left = room;
  for (const [at, width] of widths.toSorted((one, other) => one - other).entries()) {
    const share = Math.floor(left / (widths.length - at));
    if (width > share) return Math.max(share, SHORTEST_CELL);
    left -= width;
  }
  return Infinity;
}

/** Error codes that a write returns if the reader of the pipe or socket has closed it. */
const readerLeft: ReadonlySet<string | undefined> = new Set(['EPIPE', 'ECONNRESET']);

/** Shortens a cell in the middle: the beginning and the end of an address or a position are its most informative parts. */
function shorten(cell: string, length: number): string {
  if (cell.length <= length) return cell;
  const head = Math.floor((length - 1) / 2);
  return `${cell.slice(0, head)}…${cell.slice(head + 1 - length)}`.toWellFormed();
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
    if (!readerLeft.has(error.code)) failure ??= error;
  });
  return async () => {
    await new Promise<void>((resolve) => stdout.write('', () => resolve()));
    return failure;
  };
}
