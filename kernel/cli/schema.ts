import type { Flags } from '#contract';
import { completeSchema, componentSchema } from '../pipeline/complete-schema.ts';
import { readArguments, UsageError, unknownWord } from './arguments.ts';
import type { Command } from './command.ts';
import { type Tools, withTools } from './tools.ts';

const flags = {
  pretty: { type: 'boolean', default: false, about: 'With line breaks.' },
} as const satisfies Flags;

/** Prints JSON Schema, draft 07, that refers to nothing outside itself. */
export const schema: Command = {
  usage: '[NAMESPACE]',
  flags,
  summary: 'Print the JSON Schema of the configuration, or of one component.',
  details: 'A file that says "$schema": "./sluice.schema.json" has it in editors, offline.',
  async run(args, { stdout, catalogue }) {
    const { values, positionals } = readArguments(args, flags, true);
    const [namespace, ...others] = positionals;
    if (others.length > 0) throw new UsageError(`one namespace at a time, not also ${others.join(', ')}`);
    const printed = await withTools(catalogue, ({ registry }) =>
      namespace === undefined ? completeSchema(registry) : ofComponent(registry, namespace),
    );
    stdout.write(`${JSON.stringify(printed, null, values.pretty ? 2 : 0)}\n`);
    return 0;
  },
};

async function ofComponent(registry: Tools['registry'], namespace: string): Promise<object> {
  const match = await componentSchema(registry, namespace);
  if (match) return match;
  if (!registry.namespaces.includes(namespace)) throw unknownWord('namespace', namespace, registry.namespaces);
  throw new UsageError(`${namespace} has no configuration`);
}
