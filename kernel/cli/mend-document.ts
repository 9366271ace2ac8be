import type { ConfigError } from '#contract';
import {
  type Change,
  type Document,
  editDocument,
  fieldName,
  isSecret,
  joinPointer,
  maskSecrets,
  parentPointer,
  parsePointer,
} from '../config/index.ts';
import { ConfigErrors } from '../contract/internal.ts';

/** Changes may make other mistakes visible, which may be mended too; a mend that brings back another ends here. */
const MAX_ROUNDS = 5;

/** A document that was mended, and one line for every change. */
export interface MendedDocument {
  readonly document: Document;
  readonly lines: readonly string[];
}

/**
 * Makes the fixes of the mistakes found, looks again and goes on until there are none. What cannot be changed without
 * changing something else is left as it is.
 * @param describe one change of a document, as it is before, as a line.
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

/** A change as one line: `file:line:column: 'old' is now 'new'`. The place is the one before the change. */
export function describeChange(document: Document, change: Change, lead = ''): string {
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

/** One round: all at once where that can be, else each for itself. */
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

/** One change a place, and none inside another's: those are for the next round. */
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
