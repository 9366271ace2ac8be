import { type ConfigDiff, type Document, readDocument } from '../../config/index.ts';
import { ConfigErrors } from '../../contract/internal.ts';
import { printDiff } from '../formats/print-diff.ts';
import { printErrors } from '../formats/report.ts';
import type { Terminal } from '../terminal.ts';
import { configBody, type Problem } from './bodies.ts';
import { placedIn } from './check-running.ts';
import { type AdminResponse, isRefusal } from './client.ts';
import { converse, type RemoteFlags } from './connect.ts';
import { printRefusal, readBody } from './show.ts';

/** Exit code when there is nothing to compare; 1 means a difference. */
const TROUBLE = 2;

/**
 * Compares a file with the configuration of a running gateway. @returns as `diff`; 3 when the gateway does not respond.
 */
export async function diffWithRunning(file: string, flags: RemoteFlags, terminal: Terminal): Promise<number> {
  const document = await readOrReport(file, terminal);
  if (!document) return TROUBLE;
  return converse(flags, terminal, async (client) => {
    const { headers, body } = configBody(file, document.text);
    const response = await client.ask({ method: 'POST', path: '/v1/config/diff', headers, body });
    return show(namedAs(file, response), flags.json, terminal);
  });
}

/** Reads a file. @returns null, after printing its errors, for one that cannot be parsed. */
async function readOrReport(file: string, terminal: Terminal): Promise<Document | null> {
  try {
    return await readDocument(file);
  } catch (error) {
    if (!(error instanceof ConfigErrors)) throw error;
    terminal.stderr.write('ERROR parsing the configuration file:\n');
    await printErrors(terminal, file, error.errors);
    return null;
  }
}

/** Compares two revisions of a running gateway. @returns as `diff`; 3 when the gateway does not respond. */
export function diffRevisions(from: number, to: number, flags: RemoteFlags, terminal: Terminal): Promise<number> {
  return converse(flags, terminal, async (client) => {
    return show(await client.ask({ path: `/v1/revisions/${from}/diff/${to}` }), flags.json, terminal);
  });
}

function show(response: AdminResponse, json: boolean, terminal: Terminal): number {
  const diff = isRefusal(response.status) ? null : readBody<ConfigDiff>(response);
  if (json) terminal.stdout.write(`${response.text.trimEnd()}\n`);
  else if (diff) printDiff(terminal, diff);
  else printRefusal(terminal, response);
  if (!diff) return TROUBLE;
  return diff.equal ? 0 : 1;
}

/** Adds the file name, which the gateway does not know, to changes and errors. Removed settings get none: they are not in this file. */
function namedAs(file: string, response: AdminResponse): AdminResponse {
  const body = readBody<Partial<ConfigDiff & Problem>>(response);
  if (!body) return response;
  const { changes, errors } = body;
  const named = {
    ...body,
    ...(changes && { changes: changes.map((change) => (change.op === 'remove' ? change : { ...change, file })) }),
    ...(errors && { errors: errors.map((issue) => placedIn(file, issue)) }),
  };
  return { ...response, text: JSON.stringify(named) };
}
