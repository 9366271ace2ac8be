import { type ConfigError, ConfigErrors } from '#contract';
import {
  type Change,
  type Document,
  editDocument,
  fieldName,
  isSecret,
  maskSecrets,
  mendText,
  parentPointer,
  parseDocument,
  parsePointer,
  readDocument,
  replaceFile,
  UnreadableError,
} from '../config/index.ts';
import { Registry } from '../registry/registry.ts';
import { examine } from '../runtime/build.ts';
import type { CommandContext } from './command.ts';
import { cannotWrite } from './file-errors.ts';
import { toolServices } from './tool-services.ts';

/** Changes may make other mistakes visible, which may be fixed too; a fix that brings back another ends here. */
const MAX_ROUNDS = 5;

/**
 * Makes good what an examination knows how to make good, and writes the file once when all is done. What cannot be
 * changed without changing something else is left as it is.
 * @param examine finds the mistakes and warnings of a document.
 * @param tell is handed one line for every change, once they are written.
 * @throws ConfigErrors when the file cannot be read or parsed; the system's error when it cannot be written.
 */
export async function fixFile(
  file: string,
  examine: (document: Document) => Promise<readonly ConfigError[]>,
  tell: (line: string) => void,
): Promise<void> {
  const lines: string[] = [];
  const tellAll = () => {
    for (const line of lines) tell(line);
  };
  let document = await readMended(file, lines, tellAll);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { edited, made } = applyFixes(document, await examine(document));
    if (made.length === 0) break;
    for (const change of made) lines.push(describeChange(document, change, 'fixed: '));
    document = edited;
  }
  await replaceFile(file, document.text);
  tellAll();
}

/**
 * Reads a file, with what keeps it from being read made good where that takes no choice; what is left of it is written.
 * @param lines takes one for every mistake made good.
 * @throws ConfigErrors when it still cannot be read.
 */
async function readMended(file: string, lines: string[], tellAll: () => void): Promise<Document> {
  try {
    return await readDocument(file);
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error;
    const { text, made } = mendText(error.text, file);
    if (made.length === 0) throw error;
    for (const { position, reason } of made) {
      lines.push(`${file}:${position!.line}:${position!.column}: fixed: ${reason}\n`);
    }
    try {
      return parseDocument(text, file);
    } catch (left) {
      await replaceFile(file, text);
      tellAll();
      throw left;
    }
  }
}

/**
 * Fixes a file by what the gateway itself finds in it, and tells it on standard error. A file that cannot be read is left
 * to the check that follows; so is one that cannot be written, with a line that says why.
 * @param reading also read the files that the configuration names.
 */
export async function fixByExamining(
  file: string,
  { catalogue, stderr }: CommandContext,
  reading: boolean,
): Promise<void> {
  const registry = new Registry(catalogue, toolServices());
  const find = async (document: Document) => {
    const { errors, warnings } = await examine(document.data, {}, registry, reading);
    return [...errors, ...warnings];
  };
  try {
    await fixFile(file, find, (line) => stderr.write(line));
  } catch (error) {
    if (error instanceof ConfigErrors) return;
    stderr.write(`${cannotWrite(file, error)}\n`);
  } finally {
    await registry.close();
  }
}

/** A change as one line: `file:line:column: 'old' is now 'new'`. The place is the one before the change. */
export function describeChange(document: Document, change: Change, lead = ''): string {
  const position = document.locate(change.pointer, 'key' in change ? 'key' : 'value');
  const where = position ? `${document.file}:${position.line}:${position.column}` : document.file;
  const now = 'key' in change ? `'${change.key}'` : JSON.stringify(maskSecrets(change.value, change.pointer, isSecret));
  const name = 'key' in change ? parsePointer(change.pointer).at(-1) : fieldName(change.pointer);
  return `${where}: ${lead}'${name}' is now ${now}\n`;
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
