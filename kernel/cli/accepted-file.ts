import type { Flag, ServiceConfig } from '#contract';
import type { Document } from '../config/index.ts';
import { ConfigErrors } from '../contract/internal.ts';
import { positionsIn, type Served, servedBy } from '../inspect/index.ts';
import type { Compiled } from '../pipeline/compile.ts';
import type { Registry } from '../registry/registry.ts';
import { oneOf } from './arguments.ts';
import type { CommandContext } from './command.ts';
import { defaultNames } from './config-file.ts';
import { printErrors } from './report.ts';
import { withTools } from './tools.ts';

/** Of every command that reads a configuration file. */
export const configFlag = {
  type: 'string',
  short: 'c',
  value: 'FILE',
  otherwise: `the file in the working directory: ${defaultNames}`,
  about: 'Configuration file in JSON, YAML or TOML, by its extension. Can also be given as an argument.',
} as const satisfies Flag;

/** Of every command that looks at a configuration here. */
export const pluginsFlag = {
  type: 'string',
  value: 'DIRECTORY',
  otherwise: 'those that the configuration names',
  about: 'Additional folder with custom plugins.',
} as const satisfies Flag;

/** Of every command that prints for people or for programs. */
export const formatFlag = {
  type: 'string',
  value: 'FORMAT',
  default: 'text',
  about: 'Output format: text or json.',
} as const satisfies Flag;

/** A configuration file without mistakes. */
interface Accepted {
  readonly document: Document;
  readonly config: ServiceConfig;
  /** The plugins it may name. */
  readonly registry: Registry;
  /** The pointer in the document of what stands at a pointer of `config`. */
  readonly origin: (pointer: string) => string;
  /** Its routes are there when files were read; they are for looking at, not to be called. */
  readonly compiled: Compiled;
}

/**
 * Reads a configuration file; its mistakes go to standard error.
 * @param reading also read the files that it names. @returns null for a file with mistakes.
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

/** What a configuration file would serve, and where its parts stand. @returns null for a file with mistakes. */
export async function serveFile(
  file: string,
  context: CommandContext,
): Promise<{ served: Served; positionOf: ReturnType<typeof positionsIn>; registry: Registry } | null> {
  const accepted = await acceptFile(file, context, true);
  if (!accepted) return null;
  const { config, compiled, document, registry } = accepted;
  return { served: await servedBy(config, compiled), positionOf: positionsIn(document), registry };
}

/** The value of `--format` where it is text or JSON. @throws UsageError for another. */
export function isJson(format: string): boolean {
  return oneOf('format', format, ['text', 'json']) === 'json';
}
