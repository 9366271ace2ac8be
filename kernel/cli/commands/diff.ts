import type { Flags } from '#contract';
import { type ConfigDiff, diffConfigs } from '../../config/index.ts';
import { positionsIn } from '../../inspect/index.ts';
import { secretsKnownTo } from '../../registry/secrets.ts';
import { sourceVariables } from '../../sources/address.ts';
import { readArguments, UsageError } from '../arguments.ts';
import { adminVariables, type Command, colourVariables } from '../command.ts';
import { type Accepted, acceptFile, formatFlag, isJson, pluginsFlag } from '../files/accepted-file.ts';
import { asFile } from '../files/remote-configuration.ts';
import { printDiff } from '../formats/print-diff.ts';
import { remoteFlags } from '../remote/connect.ts';
import { diffRevisions, diffWithRunning } from '../remote/diff-running.ts';

const { json: _, ...where } = remoteFlags;
const flags = { format: formatFlag, plugins: pluginsFlag, ...where } as const satisfies Flags;

/** Exit code for files that cannot be compared; the same as for a usage error. */
const TROUBLE = 2;

/**
 * Compares two configuration files by meaning: format, layout, comments, order of endpoints and explicit defaults make
 * no difference. Environment variables that override fields are ignored. Exit code 0 when they are equal, 1 when they
 * differ, 2 when one is invalid. A single file is compared with the configuration of a running gateway; two numbers are
 * its revisions.
 */
export const diff: Command = {
  usage: 'OLD NEW | FILE | REVISION REVISION',
  flags,
  variables: { ...adminVariables, ...sourceVariables, ...colourVariables },
  summary: 'Compare the meaning of two configurations, or of a configuration with the one of a running gateway.',
  details:
    'OLD and NEW can also be addresses of stores. Exit codes: 0 equal, 1 different, 2 not valid, 3 the gateway did not respond.',
  async run(args, context) {
    const { values, positionals } = readArguments(args, flags, true);
    const asJson = isJson(values.format);
    const [one, other, ...others] = positionals;
    if (one === undefined || others.length > 0) throw new UsageError('one or two configuration files are required');
    const remote = { ...values, json: asJson };
    if (other === undefined) return diffWithRunning(one, remote, context);
    if (isRevision(one) && isRevision(other)) return diffRevisions(Number(one), Number(other), remote, context);
    const files: Awaited<ReturnType<typeof asFile>>[] = [];
    try {
      for (const named of [one, other]) files.push(await asFile(named, context));
      const [from, to] = await Promise.all(
        files.map(({ file }) => acceptFile(file, { ...context, plugins: values.plugins }, false)),
      );
      if (!from || !to) return TROUBLE;
      const result = compare(from, to);
      if (asJson) context.stdout.write(`${JSON.stringify(result)}\n`);
      else printDiff(context, result);
      return result.equal ? 0 : 1;
    } finally {
      for (const { remove } of files) await remove();
    }
  },
};

/** Whether an argument is a revision. A file whose name is a number must be given with its folder: `./3`. */
function isRevision(text: string): boolean {
  return /^\d+$/.test(text);
}

/** Compares two sides. Components are interpreted by the new side's plugins where available. */
function compare(from: Accepted, to: Accepted): ConfigDiff {
  const sides = {
    from: { ...from, positionOf: positionsIn(from.document) },
    to: { ...to, positionOf: positionsIn(to.document) },
  };
  const isSecret = [from, to].map(({ registry }) => secretsKnownTo(registry));
  return diffConfigs(from.config, to.config, {
    isSecret: (pointer, value) => isSecret.some((hides) => hides(pointer, value)),
    known: to.registry,
    componentSchema: (namespace, level) =>
      (to.registry.place(namespace, level) ?? from.registry.place(namespace, level))?.schema,
    places(renewed, side) {
      const { origin, positionOf: position } = sides[side];
      const pointer = origin(renewed);
      return { ...position(pointer), pointer };
    },
  });
}
