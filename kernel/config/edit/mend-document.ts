import type { ConfigError } from '#contract';
import { ConfigErrors } from '../../contract/internal.ts';
import { fieldName, joinPointer, parentPointer, parsePointer } from '../../values/pointer.ts';
import { isSecret, maskSecrets } from '../secrets/secret.ts';
import type { Document } from '../syntax/load.ts';
import { type Change, editDocument } from './edit-document.ts';

/**
 * Maximum number of rounds. Fixes can reveal further errors, which the next round fixes; the limit ends cycles of fixes
 * that undo each other.
 */
const MAX_ROUNDS = 5;

/** A fixed document, with one line per change. */
export interface MendedDocument {
  readonly document: Document;
  readonly lines: readonly string[];
}

/**
 * Fixes errors and examines the document again, until there is nothing left to fix. A value that other parts of the
 * document share is not changed.
 * @param describe formats one change as a line; it gets the document before the change.
 */
export async function mendDocument(
  given: Document,
  find: (document: Document) => Promise<readonly ConfigError[]>,
  describe: (document: Document, change: Change) => string,
): Promise<MendedDocument> {
  let document = given;
  const lines: string[] = [];
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { edited, made } = applyFixes(document, await find(document));
    if (made.length === 0) break;
    for (const change of made) lines.push(describe(document, change));
    document = edited;
  }
  return { document, lines };
}

/** Formats a change as one line: `file:line:column: 'old' is now 'new'`, with the position before the change. */
export function describeEdit(document: Document, change: Change, lead = ''): string {
  const position = document.locate(change.pointer, 'key' in change ? 'key' : 'value');
  const where = position ? `${position.file ?? document.file}:${position.line}:${position.column}` : document.file;
  return `${where}: ${lead}${changed(change)}\n`;
}

function changed(change: Change): string {
  const { pointer } = change;
  if ('key' in change) return `'${parsePointer(pointer).at(-1)}' is now '${change.key}'`;
  const at = 'add' in change ? joinPointer(pointer, change.add) : pointer;
  const value = JSON.stringify(maskSecrets(change.value, at, isSecret));
  return 'add' in change ? `'${change.add}' is added: ${value}` : `'${fieldName(pointer)}' is now ${value}`;
}

/** Applies one round of fixes: all at once if possible, otherwise one at a time. */
function applyFixes(document: Document, errors: readonly ConfigError[]): { edited: Document; made: readonly Change[] } {
  const changes = outermost(errors.flatMap(({ pointer, fix }) => (fix ? [{ pointer, ...fix }] : [])));
  const all = attempt(document, changes);
  if (all) return { edited: all, made: changes };
  let edited = document;
  const made: Change[] = [];
  for (const change of changes) {
    const next = attempt(edited, [change]);
    if (!next) continue;
    edited = next;
    made.push(change);
  }
  return { edited, made };
}

/** Keeps one change per location, and none inside another; those are left for the next round. */
function outermost(changes: readonly Change[]): Change[] {
  const places = new Map(changes.map((change) => [change.pointer, change]));
  return [...places.values()].filter(({ pointer }) => {
    for (let at = parentPointer(pointer); at !== ''; at = parentPointer(at)) if (places.has(at)) return false;
    return true;
  });
}

function attempt(document: Document, changes: readonly Change[]): Document | undefined {
  try {
    return editDocument(document, changes);
  } catch (error) {
    if (!(error instanceof ConfigErrors)) throw error;
    return undefined;
  }
}
