import { parseArgs } from 'node:util';
import { nearest } from '../config/index.ts';
import { completeSchema, componentSchema } from '../pipeline/complete-schema.ts';
import { Registry } from '../registry/registry.ts';
import { type Command, UsageError } from './command.ts';
import { toolServices } from './tool-services.ts';

/** Prints JSON Schema, draft 07, that refers to nothing outside itself. */
export const schema: Command = {
  usage: '[NAMESPACE] [--pretty] > sluice.schema.json',
  summary:
    'Print the JSON Schema of the configuration, or of one component; a file that says "$schema": "./sluice.schema.json" has it in editors, offline.',
  async run(args, { stdout, catalogue }) {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { pretty: { type: 'boolean', default: false } },
    });
    const [namespace, ...others] = positionals;
    if (others.length > 0) throw new UsageError(`one namespace at a time, not also ${others.join(', ')}`);
    const registry = new Registry(catalogue, toolServices());
    try {
      const printed = namespace === undefined ? await completeSchema(registry) : await ofComponent(registry, namespace);
      stdout.write(`${JSON.stringify(printed, null, values.pretty ? 2 : 0)}\n`);
      return 0;
    } finally {
      await registry.close();
    }
  },
};

async function ofComponent(registry: Registry, namespace: string): Promise<object> {
  const found = await componentSchema(registry, namespace);
  if (found) return found;
  const near = nearest(namespace, registry.namespaces);
  const hint = near === undefined || near === namespace ? '' : `; did you mean ${near}?`;
  throw new UsageError(`no component named ${namespace} has a configuration${hint}`);
}
