/** What an admin port answered. */
export interface Answer {
  readonly status: number;
  /** The body as it came. */
  readonly text: string;
}

/** The admin port did not answer; says why. */
export class Unreachable extends Error {
  constructor(cause: Error) {
    super(cause.message || (cause as NodeJS.ErrnoException).code || cause.name, { cause });
  }
}

/** The admin port answered with a problem, or with something else than it was asked for. */
export class Refused extends Error {
  readonly answer: Answer;

  constructor(answer: Answer) {
    super(`answered with status ${answer.status}`);
    this.answer = answer;
  }
}

/** What a command ends with. Code 2, for a call that cannot be understood, is the command line's own. */
export const exitCodes = { ok: 0, refused: 1, unreachable: 3, stale: 4 } as const;

/** The exit code that an answer leads to. */
export function exitCodeOf({ status }: Answer): number {
  if (status === 412) return exitCodes.stale;
  return isRefusal(status) ? exitCodes.refused : exitCodes.ok;
}

export function isRefusal(status: number): boolean {
  return status < 200 || status > 299;
}
