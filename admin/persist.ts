import { ConfigError } from '#contract';
import { contentHash, draftFile, formatNameOf, type Operations, type Participant, Refusal } from '#kernel';
import { Problem } from './problem.ts';

/** The file that the gateway reads its configuration from. @throws Problem bad-request where there is none. */
export function mainFile({ source }: Operations): string {
  if (typeof source === 'string') return source;
  throw new Problem('bad-request', 'persist=file: the configuration does not come from a file');
}

/** @throws Problem bad-request when a text of this format cannot stand in the file. */
export function demandFormatOf(file: string, format: string): void {
  const wanted = formatNameOf(file) ?? 'json';
  if (format === wanted) return;
  throw new Problem('bad-request', `persist=file: ${file} is ${wanted}, the body is ${format}`);
}

/**
 * Writes the configuration to its file together with the change: the text is on the disk before, and takes the file's place
 * when nothing else can refuse it any more.
 * @throws Refusal from `prepare` and `seal` when the file cannot be written; it is then as it was.
 */
export function persistence(gateway: Operations, file: string): Participant {
  return {
    async prepare({ snapshot: { text } }) {
      const draft = await orRefusal(file, draftFile(file, text));
      return {
        async precommit() {
          if (!draft) return;
          const { watcher } = gateway;
          const write = () => draft.commit();
          const hash = contentHash(Buffer.from(draft.content));
          await orRefusal(file, watcher ? watcher.write(file, hash, write) : write());
        },
        commit() {},
        abort: () => draft?.abort(),
      };
    },
  };
}

async function orRefusal<T>(file: string, writing: Promise<T>): Promise<T> {
  try {
    return await writing;
  } catch (cause) {
    const error = new ConfigError('CONFIG_WRITE', '', `cannot write ${file}: ${(cause as Error).message}`, { cause });
    throw new Refusal('warmup', 'prepare', [error], null);
  }
}
