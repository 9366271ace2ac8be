import { parseArgs } from 'node:util';
import { completeSchema } from '../pipeline/complete-schema.ts';
import { Registry } from '../registry/registry.ts';
import type { Command } from './command.ts';
import { toolServices } from './tool-services.ts';

export const schema: Command = {
  usage: '',
  summary: 'Print the JSON Schema of the whole configuration, for editors.',
  async run(args, catalogue) {
    parseArgs({ args, options: {} });
    const registry = new Registry(catalogue, toolServices());
    process.stdout.write(`${JSON.stringify(await completeSchema(registry), null, 2)}\n`);
    await registry.close();
    return 0;
  },
};
