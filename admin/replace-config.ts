import type Koa from 'koa';
import type { ConfigText, Format } from '#kernel';
import type { Admin } from './admin.ts';
import { applyChange, changeParameters, changeProblems } from './change.ts';
import type { Parameter } from './operation.ts';
import { changeHeaders } from './parameters.ts';
import { demandFormatOf, mainFile, persistence } from './persist.ts';
import { Problem, type ProblemSlug } from './problem.ts';
import { queryWord } from './query.ts';

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
