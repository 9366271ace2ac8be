import type { Flag, ServiceConfig } from '#contract';
import type { Document } from '../../config/index.ts';
import { ConfigErrors } from '../../contract/internal.ts';
import { positionsIn, type Served, servedBy } from '../../inspect/index.ts';
import type { Compiled } from '../../pipeline/compile/compile.ts';
import type { Registry } from '../../registry/registry.ts';
import { oneOf } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import { printErrors } from '../formats/report.ts';
import { withTools } from '../tools.ts';
import { defaultNames } from './config-file.ts';

/** Flag of every command that reads a configuration file. */
export const configFlag = {
  type: 'string',
  short: 'c',
  value: 'FILE',
  otherwise: `the file in the working directory: ${defaultNames}`,
  about: 'Configuration file in JSON, YAML or TOML, by its extension. Can also be given as an argument.',
} as const satisfies Flag;

/** Flag of every command that examines a configuration locally. */
export const pluginsFlag = {
  type: 'string',
  value: 'DIRECTORY',
  otherwise: 'the plugins that the configuration names',
  about: 'Additional folder with custom plugins.',
} as const satisfies Flag;

/** Flag of every command with output for people or programs. */
export const formatFlag = {
  type: 'string',
  value: 'FORMAT',
  default: 'text',
  about: 'Output format: text or json.',
} as const satisfies Flag;

/** A valid configuration file. */
export interface Accepted {
  readonly document: Document;
  readonly config: ServiceConfig;
  /** The plugins available to this file. */
  readonly registry: Registry;
  /** Maps a pointer into `config` to the pointer into the document. */
  readonly origin: (pointer: string) => string;
  /** The compiled configuration, for inspection only: its routes must not be called. It contains routes only when files were read. */
  readonly compiled: Compiled;
}

/**
 * Reads a configuration file; errors are printed on standard error.
 * @param reading whether to also read the files that it refers to. @returns null for an invalid file.
 */
export async function acceptFile(file: string, context: CommandContext, reading: boolean): Promise<Accepted | null> {
  try {
    const { errors, ...accepted } = await withTools(context, (tools) => tools.examineFile(file, reading));
    if (errors.length > 0) throw new ConfigErrors(errors);
    return accepted;
  } catch (error) {
    if (!(error instanceof ConfigErrors)) throw error;
    context.stderr.write('ERROR parsing the configuration file:\n');
    await printErrors(context, file, error.errors);
    return null;
  }
}

/** Returns what a configuration file would serve, and the positions of its parts. @returns null for an invalid file. */
export async function serveFile(
  file: string,
  context: CommandContext,
): Promise<{ served: Served; positionOf: ReturnType<typeof positionsIn>; registry: Registry } | null> {
  const accepted = await acceptFile(file, context, true);
  if (!accepted) return null;
  const { config, compiled, document, registry } = accepted;
  return { served: await servedBy(config, compiled), positionOf: positionsIn(document), registry };
}

/** Parses the value of `--format`, text or JSON. @throws UsageError for any other value. */
export function isJson(format: string): boolean {
  return oneOf('format', format, ['text', 'json']) === 'json';
}
