import type { Issue } from '../../config/index.ts';
import { printable } from '../formats/excerpt.ts';
import { printFindings } from '../formats/report.ts';
import type { Terminal } from '../terminal.ts';
import type { Problem } from './bodies.ts';
import { type AdminResponse, exitCodeOf, exitCodes, isRefusal } from './client.ts';

/** A response formatted for people. */
export interface Described {
  readonly lines: readonly string[];
  /** Issues in the response, which are printed on standard error. */
  readonly issues?: readonly Issue[];
}

/**
 * Prints a response: as JSON unchanged, otherwise its content on standard output, or the reason for a rejection on
 * standard error.
 * @returns the exit code.
 */
export function showResponse<Body>(
  terminal: Terminal,
  response: AdminResponse,
  json: boolean,
  describe: (body: Body) => Described,
): number {
  if (json) {
    terminal.stdout.write(response.text.endsWith('\n') ? response.text : `${response.text}\n`);
    return exitCodeOf(response);
  }
  const body = isRefusal(response.status) ? null : readBody<Body>(response);
  if (body === null) {
    printRefusal(terminal, response);
    return isRefusal(response.status) ? exitCodeOf(response) : exitCodes.refused;
  }
  const { lines, issues = [] } = describe(body);
  terminal.stdout.write(lines.map((line) => `${printable(line)}\n`).join(''));
  printIssues(terminal, issues);
  return exitCodes.ok;
}

/** Parses the body of a response; null when it cannot be from an admin port. */
export function readBody<Body>({ text }: AdminResponse): Body | null {
  try {
    return JSON.parse(text) as Body;
  } catch {
    return null;
  }
}

/** Prints the reason for a rejection on standard error, with every error as `check` prints it. */
export function printRefusal(terminal: Terminal, response: AdminResponse): void {
  const { status } = response;
  const problem: Problem = { title: `the response has status ${status}`, ...readBody<Problem>(response) };
  const { errors = [], errorsTruncated = 0 } = problem;
  terminal.stderr.write(`ERROR ${printable(sentenceOf(problem))}\n`);
  if (status === 401)
    terminal.stderr.write('a token is required: set GATEWAY_ADMIN_TOKEN or --admin-token-file FILE\n');
  printIssues(terminal, errors);
  if (errorsTruncated > 0) terminal.stderr.write(`and ${errorsTruncated} more\n`);
}

/** Returns the title of a problem if its individual errors are printed after it, otherwise its detailed description. */
export function sentenceOf({ title, detail, errors = [], revision }: Problem): string {
  if (errors.length === 0) return detail ?? title;
  return revision === undefined ? title : `${title}; revision ${revision} stays active`;
}

/** Prints issues on standard error, like `check`. */
function printIssues(terminal: Terminal, issues: readonly Issue[]): void {
  const [errors, warnings] = [issues.filter(isError), issues.filter((issue) => !isError(issue))];
  printFindings(terminal, { file: 'configuration', text: undefined, document: null, errors, warnings });
}

function isError({ severity }: Issue): boolean {
  return severity === 'error';
}
