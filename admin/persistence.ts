import { readFile } from 'node:fs/promises';
import { ConfigError, type DataObject } from '#contract';
import {
  ConfigErrors,
  contentHash,
  decodeText,
  demandPlain,
  draftFile,
  type Format,
  formatNameOf,
  type Operations,
  type Participant,
  parseDocument,
  Refusal,
  rewriteDocument,
} from '#kernel';
import { Problem, type ProblemSlug } from './problem.ts';

/** Form in which a configuration is written to the file: the given text, or edits of the existing text. */
export type Writing = 'text' | 'edits';

/** Problems that prevent the file from being written. */
export const persistenceProblems: readonly ProblemSlug[] = ['file-is-template', 'file-changed', 'file-not-editable'];

/**
 * Writes the configuration to its file as part of the change. The text is first written to a temporary file, which is
 * renamed once nothing else can reject the change. A file that differs from the last loaded or written content is never
 * replaced.
 * @param format format of the new configuration.
 * @throws Problem bad-request, file-is-template, file-changed; `prepare` throws the same and file-not-editable; `prepare`
 *   and `precommit` throw Refusal if the file cannot be written. The file is then unchanged.
 */
export async function persistence(gateway: Operations, format: Format, writing: Writing): Promise<Participant> {
  const file = mainFile(gateway);
  if (writing === 'text') demandFormatOf(file, format);
  await demandLoaded(gateway, file);
  return {
    async prepare({ snapshot }) {
      const present = await demandLoaded(gateway, file);
      const text = writing === 'text' ? snapshot.text : edited(file, present, snapshot.data as DataObject);
      const draft = await orRefusal(file, draftFile(file, text));
      return {
        async precommit() {
          if (!draft) return;
          await demandLoaded(gateway, file);
          const { watcher } = gateway;
          const write = () => draft.commit();
          const hash = contentHash(Buffer.from(draft.content));
          await orRefusal(file, watcher ? watcher.write(file, hash, write) : write());
          gateway.serving.file.text = text;
        },
        commit() {},
        abort: () => draft?.abort(),
      };
    },
  };
}

/** The file that the gateway reads its configuration from. @throws Problem bad-request without a file. */
function mainFile({ source }: Operations): string {
  if (typeof source === 'string') return source;
  throw new Problem('bad-request', 'persist=file: the configuration was not loaded from a file');
}

/** @throws Problem bad-request when the file has another format. */
function demandFormatOf(file: string, format: string): void {
  const wanted = formatNameOf(file) ?? 'json';
  if (format === wanted) return;
  throw new Problem('bad-request', `persist=file: the body is ${format}, but ${file} is ${wanted}`);
}

/** The text of the file. @throws Problem when the file is a template, or its text is not what was last loaded or written. */
async function demandLoaded(gateway: Operations, file: string): Promise<string> {
  try {
    demandPlain(file);
  } catch (error) {
    throw new Problem('file-is-template', `persist=file: ${reasonOf(error)}`);
  }
  const text = decodeText(await orRefusal(file, readFile(file)), file);
  if (text === gateway.serving.file.text) return text;
  throw new Problem('file-changed', `persist=file: ${file} has changed since it was loaded: reload it first`);
}

/** @throws Problem file-not-editable. */
function edited(file: string, text: string, data: DataObject): string {
  try {
    return rewriteDocument(parseDocument(text, file), data).text;
  } catch (error) {
    throw new Problem('file-not-editable', `persist=file: ${file}: ${reasonOf(error)}`);
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof ConfigErrors)) throw error;
  return error.errors[0]!.message;
}

async function orRefusal<T>(file: string, task: Promise<T>): Promise<T> {
  try {
    return await task;
  } catch (cause) {
    const error = new ConfigError('CONFIG_WRITE', '', `cannot write ${file}: ${(cause as Error).message}`, { cause });
    throw new Refusal('warmup', 'prepare', [error], null);
  }
}
