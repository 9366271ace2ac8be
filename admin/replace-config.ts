import type Koa from 'koa';
import { ConfigError } from '#contract';
import {
  type ConfigText,
  contentHash,
  draftFile,
  type Format,
  formatNameOf,
  type Operations,
  type Participant,
  Refusal,
} from '#kernel';
import { applyChange, changeParameters, changeProblems } from './change.ts';
import type { Admin, Parameter } from './operation.ts';
import { changeHeaders, queryWord } from './parameters.ts';
import { Problem, type ProblemSlug } from './problem.ts';

const keepings = ['revision', 'none', 'file'] as const;

/** Parameters of everything that brings a configuration. */
export const replaceParameters: readonly Parameter[] = [
  ...changeParameters,
  {
    name: 'persist',
    in: 'query',
    description: 'Where it is kept: in the history, nowhere, or also in the file the gateway was started with.',
    schema: { type: 'string', enum: keepings, default: 'revision' },
  },
  ...changeHeaders,
];

/** What may stop it. */
export const replaceProblems: readonly ProblemSlug[] = [...changeProblems, 'writes-disabled'];

/** @throws Problem writes-disabled where configurations come from the file only. */
export function demandWritable({ settings }: Admin): void {
  if (settings.disable_write) throw new Problem('writes-disabled', 'disable_write: deploy the file and reload it');
}

/**
 * Puts a configuration in the place of the one that serves, and answers.
 * @param format of the configuration.
 * @param source makes the configuration from the one that serves when its turn has come.
 * @throws as `applyChange`.
 */
export async function replaceConfig(
  ctx: Koa.Context,
  admin: Admin,
  format: Format,
  source: () => ConfigText,
): Promise<void> {
  const { gateway } = admin;
  const persist = queryWord(ctx, 'persist', keepings);
  const file = persist === 'file' ? mainFile(gateway) : null;
  if (file !== null) demandFormatOf(file, format);
  await applyChange(ctx, admin, {
    trigger: 'api',
    source,
    recorded: persist !== 'none',
    ...(file !== null && { participant: persistence(gateway, file) }),
  });
}

/** The file that the gateway reads its configuration from. @throws Problem bad-request where there is none. */
function mainFile({ source }: Operations): string {
  if (typeof source === 'string') return source;
  throw new Problem('bad-request', 'persist=file: the configuration does not come from a file');
}

/** @throws Problem bad-request when a text of this format cannot stand in the file. */
function demandFormatOf(file: string, format: string): void {
  const wanted = formatNameOf(file) ?? 'json';
  if (format === wanted) return;
  throw new Problem('bad-request', `persist=file: ${file} is ${wanted}, the body is ${format}`);
}

/**
 * Writes the configuration to its file together with the change: the text is on the disk before, and takes the file's place
 * when nothing else can refuse it any more.
 * @throws Refusal from `prepare` and `seal` when the file cannot be written; it is then as it was.
 */
function persistence(gateway: Operations, file: string): Participant {
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
