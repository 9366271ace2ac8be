import type { Flags, ServiceConfig } from '#contract';
import { type ConfigDiff, type Document, diffConfigs } from '../config/index.ts';
import { positionsIn } from '../inspect/index.ts';
import { loadNamed } from '../registry/named.ts';
import { acceptFile, formatFlag, isJson } from './accepted-file.ts';
import { readArguments, UsageError } from './arguments.ts';
import { adminVariables, type Command, type CommandContext, colourVariables } from './command.ts';
import { printDiff } from './print-diff.ts';
import { remoteFlags } from './remote/connect.ts';
import { diffRevisions, diffWithRunning } from './remote/diff-running.ts';
import { type Tools, withTools } from './tools.ts';

const { json: _, ...where } = remoteFlags;
const flags = { format: formatFlag, ...where } as const satisfies Flags;

/** Exit code for files that cannot be compared; the same as for a call that cannot be understood. */
const TROUBLE = 2;

/**
 * Compares two configuration files by what they mean: format, layout, comments, order of endpoints and defaults written
 * out are no difference. Environment variables that override fields are not looked at. Exit 0 when they are equal, 1
 * when they differ, 2 when one of them is not valid. A single file is compared with what a running gateway serves; two
 * numbers are revisions of it.
 */
export const diff: Command = {
  usage: 'OLD NEW | FILE | REVISION REVISION',
  flags,
  variables: { ...adminVariables, ...colourVariables },
  summary: 'Compare two configurations, or one with what a running gateway serves, by what they mean.',
  details:
    'Exit 0 when they are equal, 1 when they differ, 2 when one is not valid, 3 when the gateway does not answer.',
  async run(args, context) {
    const { values, positionals } = readArguments(args, flags, true);
    const asJson = isJson(values.format);
    const [one, other, ...others] = positionals;
    if (one === undefined || others.length > 0) throw new UsageError('please give one configuration file, or two');
    const remote = { ...values, json: asJson };
    if (other === undefined) return diffWithRunning(one, remote, context);
    if (isRevision(one) && isRevision(other)) return diffRevisions(Number(one), Number(other), remote, context);
    const [from, to] = await Promise.all(positionals.map((file) => readSide(file, context)));
    if (!from || !to) return TROUBLE;
    const result = await withTools(context.catalogue, (tools) => compare(from, to, tools));
    if (asJson) context.stdout.write(`${JSON.stringify(result)}\n`);
    else printDiff(context, result);
    return result.equal ? 0 : 1;
  },
};

/** A file of such a name is written with its folder, `./3`. */
function isRevision(text: string): boolean {
  return /^\d+$/.test(text);
}

interface Side {
  readonly document: Document;
  readonly config: ServiceConfig;
  /** The pointer in the document of what stands at a pointer of `config`. */
  readonly origin: (pointer: string) => string;
}

/** @returns null, its mistakes printed, for a file that is not valid. */
async function readSide(file: string, context: CommandContext): Promise<Side | null> {
  return acceptFile(file, context, false);
}

async function compare(from: Side, to: Side, { registry, isSecret }: Tools): Promise<ConfigDiff> {
  for (const { document } of [from, to]) await loadNamed(document.data, registry);
  const sides = {
    from: { ...from, positionOf: positionsIn(from.document) },
    to: { ...to, positionOf: positionsIn(to.document) },
  };
  return diffConfigs(from.config, to.config, {
    isSecret,
    known: registry,
    componentSchema: (namespace, level) => registry.place(namespace, level)?.schema,
    places(renewed, side) {
      const { origin, positionOf: position } = sides[side];
      const pointer = origin(renewed);
      return { ...position(pointer), pointer };
    },
  });
}
