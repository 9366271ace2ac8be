import type Koa from 'koa';
import type { ConfigText, Format } from '#kernel';
import { applyChange, changeParameters, changeProblems } from './change.ts';
import type { Admin, Parameter } from './operation.ts';
import { changeHeaders, queryWord } from './parameters.ts';
import { persistence, persistenceProblems, type Writing } from './persistence.ts';
import { Problem, type ProblemSlug } from './problem.ts';

const keepings = ['revision', 'none', 'file'] as const;

/** Parameters of all operations that supply a configuration. */
export const replaceParameters: readonly Parameter[] = [
  ...changeParameters,
  {
    name: 'persist',
    in: 'query',
    description:
      'Storage of the new configuration: in the history, nowhere, or in the history and the file that the gateway was started with. PUT writes the body unchanged to the file; PATCH edits the file (JSON, YAML or TOML) and keeps layout and comments. A file that is a template, uses environment variables, or has changed since it was loaded is not written, and the response is 409.',
    schema: { type: 'string', enum: keepings, default: 'revision' },
  },
  ...changeHeaders,
];

/** Problems that can prevent the replacement. */
export const replaceProblems: readonly ProblemSlug[] = [...changeProblems, ...persistenceProblems, 'writes-disabled'];

/** @throws Problem writes-disabled when configurations come only from the file. */
export function demandWritable({ settings }: Admin): void {
  if (settings.disable_write)
    throw new Problem(
      'writes-disabled',
      'changes are disabled by disable_write: replace the configuration file and reload it',
    );
}

/**
 * Replaces the serving configuration and responds.
 * @param format of the configuration.
 * @param writing how it is written to the file with `persist=file`.
 * @param source derives the new configuration from the serving one, once earlier changes are done.
 * @throws as `applyChange`.
 */
export async function replaceConfig(
  ctx: Koa.Context,
  admin: Admin,
  format: Format,
  writing: Writing,
  source: () => ConfigText,
): Promise<void> {
  const { gateway } = admin;
  const persist = queryWord(ctx, 'persist', keepings);
  const participant = persist === 'file' ? await persistence(gateway, format, writing) : undefined;
  await applyChange(ctx, admin, {
    trigger: 'api',
    source,
    recorded: persist !== 'none',
    participant,
  });
}
