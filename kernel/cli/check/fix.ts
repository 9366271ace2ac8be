import type { ConfigError } from '#contract';
import {
  type Document,
  demandPlain,
  describeEdit,
  mendDocument,
  mendText,
  parseDocument,
  readDocument,
  replaceFile,
  UnreadableError,
} from '../../config/index.ts';
import { ConfigErrors } from '../../contract/internal.ts';
import type { CommandContext } from '../command.ts';
import { cannotWrite } from '../files/file-errors.ts';
import { withTools } from '../tools.ts';

/**
 * Applies all automatic fixes that an examination suggests, and writes the file once at the end. A value that other
 * parts of the document share is not changed.
 * @param examine finds the errors and warnings of a document.
 * @param report receives one line per change, once the changes are written.
 * @throws ConfigErrors when the file cannot be read or parsed; the system's error when it cannot be written.
 */
export async function fixFile(
  file: string,
  examine: (document: Document) => Promise<readonly ConfigError[]>,
  report: (line: string) => void,
): Promise<void> {
  const lines: string[] = [];
  const reportAll = () => {
    for (const line of lines) report(line);
  };
  demandPlain(file);
  const readable = await readMended(file, lines, reportAll);
  const mended = await mendDocument(readable, examine, (document, change) => describeEdit(document, change, 'fixed: '));
  await replaceFile(file, mended.document.text);
  for (const line of mended.lines) lines.push(line);
  reportAll();
}

/**
 * Reads a file, fixing syntax errors with a single possible correction. If errors remain, the fixes so far are written.
 * @param lines receives one line per fixed error.
 * @throws ConfigErrors when it still cannot be read.
 */
async function readMended(file: string, lines: string[], reportAll: () => void): Promise<Document> {
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
      reportAll();
      throw left;
    }
  }
}

/**
 * Fixes a file by the gateway's own findings, and reports the fixes on standard error. A file that cannot be read is
 * reported by the check that follows. A file that cannot be written is checked unchanged, and the reason is printed.
 * @param reading whether to also read the files that the configuration refers to.
 */
export async function fixByExamining(file: string, context: CommandContext, reading: boolean): Promise<void> {
  try {
    await withTools(context, (tools) =>
      fixFile(
        file,
        async ({ data }) => {
          const { errors, warnings } = await tools.examine(data, reading);
          return [...errors, ...warnings];
        },
        (line) => context.stderr.write(line),
      ),
    );
  } catch (error) {
    if (error instanceof ConfigErrors) return;
    context.stderr.write(`${cannotWrite(file, error)}\n`);
  }
}
