import { ConfigErrors } from '#contract';
import { type ConfigChange, type ConfigDiff, type Document, readDocument } from '../../config/index.ts';
import { printErrors } from '../report.ts';
import { showPlace } from '../show-place.ts';
import type { Terminal } from '../terminal.ts';
import { exitCodes } from './answer.ts';
import type { AdminRequest } from './client.ts';
import { configBody } from './config-body.ts';
import { converse, type RemoteFlags } from './connect.ts';
import { type Described, readBody, showAnswer } from './show.ts';

/** Exit code where there is nothing to compare; 1 is for a difference. */
const TROUBLE = 2;

/** Compares a file with what a running gateway serves. @returns as `diff`; 3 when the gateway does not answer. */
export async function diffWithRunning(file: string, flags: RemoteFlags, terminal: Terminal): Promise<number> {
  const document = await readOrTell(file, terminal);
  if (!document) return TROUBLE;
  return diffBy({ method: 'POST', path: '/v1/config/diff', ...configBody(file, document.text) }, flags, terminal);
}

/** @returns null, its mistakes printed, for a file that cannot be read as data. */
async function readOrTell(file: string, terminal: Terminal): Promise<Document | null> {
  try {
    return await readDocument(file);
  } catch (error) {
    if (!(error instanceof ConfigErrors)) throw error;
    terminal.stderr.write('ERROR parsing the configuration file:\n');
    await printErrors(terminal, file, error.errors);
    return null;
  }
}

/** Compares two revisions in the history of a running gateway. @returns as `diff`; 3 when the gateway does not answer. */
export function diffRevisions(from: number, to: number, flags: RemoteFlags, terminal: Terminal): Promise<number> {
  return diffBy({ path: `/v1/revisions/${from}/diff/${to}` }, flags, terminal);
}

function diffBy(request: AdminRequest, flags: RemoteFlags, terminal: Terminal): Promise<number> {
  return converse(flags, terminal, async (client) => {
    const answer = await client.ask(request);
    const code = showAnswer<ConfigDiff>(terminal, answer, flags.json, describe);
    if (code !== exitCodes.ok) return TROUBLE;
    return readBody<ConfigDiff>(answer)?.equal ? 0 : 1;
  });
}

function describe({ equal, changes }: ConfigDiff): Described {
  return { lines: equal ? ['No difference.'] : changes.map(lineOf) };
}

const values: Readonly<Record<ConfigChange['op'], (change: ConfigChange) => string>> = {
  add: ({ pointer, to }) => `+ ${pointer}: ${JSON.stringify(to)}`,
  remove: ({ pointer, from }) => `- ${pointer}: ${JSON.stringify(from)}`,
  replace: ({ pointer, from, to }) => `~ ${pointer}: ${JSON.stringify(from)} → ${JSON.stringify(to)}`,
};

function lineOf(change: ConfigChange): string {
  const { op, effect, line } = change;
  const note = effect === 'swap' ? '' : ` (${effect})`;
  return `${values[op](change)}${note}${line === undefined ? '' : `  ${showPlace(change)}`}`;
}
