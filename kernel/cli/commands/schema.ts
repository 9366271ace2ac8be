import type { Flags } from '#contract';
import { testsSchema } from '../../cases/index.ts';
import { readDocument } from '../../config/index.ts';
import { ConfigErrors } from '../../contract/internal.ts';
import { completeSchema, componentSchema } from '../../pipeline/complete-schema.ts';
import type { Registry } from '../../registry/registry.ts';
import { readArguments, UsageError, unknownWord } from '../arguments.ts';
import type { Command } from '../command.ts';
import { configFlag, pluginsFlag } from '../files/accepted-file.ts';
import { printErrors } from '../formats/report.ts';
import { withTools } from '../tools.ts';

const flags = {
  config: { ...configFlag, about: 'Include the plugins that this configuration file names.' },
  plugins: pluginsFlag,
  tests: { type: 'boolean', about: 'Print the schema of files with tests, for sluice test, instead.' },
  pretty: { type: 'boolean', default: false, about: 'Pretty-print the schema.' },
} as const satisfies Flags;

/** Prints a self-contained JSON Schema, draft 07. */
export const schema: Command = {
  usage: '[NAMESPACE]',
  flags,
  summary: 'Print the JSON Schema of the configuration, or of one component.',
  details:
    'Save the schema as sluice.schema.json: editors then use it without network access in files that contain "$schema": "./sluice.schema.json".',
  async run(args, context) {
    const { values, positionals } = readArguments(args, flags, true);
    const [namespace, ...others] = positionals;
    if (others.length > 0)
      throw new UsageError(`only one namespace can be printed at a time, without ${others.join(', ')}`);
    const file = values.config;
    const write = (printed: object): number => {
      context.stdout.write(`${JSON.stringify(printed, null, values.pretty ? 2 : 0)}\n`);
      return 0;
    };
    if (values.tests) {
      if (namespace !== undefined || file !== undefined) throw new UsageError('--tests cannot be combined with others');
      return write(testsSchema());
    }
    const printed = await withTools({ ...context, plugins: values.plugins }, async ({ registryOf }) => {
      const registry = await registryOf(file === undefined ? {} : (await readDocument(file)).data);
      return namespace === undefined ? completeSchema(registry) : ofComponent(registry, namespace);
    }).catch(async (error: unknown) => {
      if (!(error instanceof ConfigErrors)) throw error;
      await printErrors(context, file ?? '', error.errors);
      return null;
    });
    if (printed === null) return 1;
    return write(printed);
  },
};

async function ofComponent(registry: Registry, namespace: string): Promise<object> {
  const match = await componentSchema(registry, namespace);
  if (match) return match;
  if (!registry.namespaces.includes(namespace)) throw unknownWord('namespace', namespace, registry.namespaces);
  throw new UsageError(`${namespace} has no configuration`);
}
