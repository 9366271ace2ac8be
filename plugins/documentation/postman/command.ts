import type { CommandCall, DataObject, PluginCommand } from '#contract';
import { configFileOf, exportFlags } from '../lib/export-flags.ts';
import { writeResult } from '../lib/write-result.ts';
import { collectionOf, environmentOf } from './collection.ts';

/** `sluice export postman`: writes the endpoints of a configuration as a Postman collection. */
export const exportCommand: PluginCommand = {
  usage: '-c FILE',
  summary: 'Export a Postman collection of the endpoints.',
  details: 'Exit code 1, without output, if the configuration is not valid.',
  flags: {
    ...exportFlags('postman.json'),
    environment: {
      type: 'string',
      value: 'FILE',
      otherwise: 'none',
      about: 'Output file for a Postman environment that matches the collection.',
    },
    internal: { type: 'boolean', about: 'Include the built-in endpoints of the gateway: health, debug and echo.' },
  },
  aliases: ['postman export', 'generate postman'],
  run: exportPostman,
};

async function exportPostman(call: CommandCall): Promise<number> {
  const { values, readConfig } = call;
  const { output = 'postman.json', environment, internal } = values;
  const file = configFileOf(call, 'export postman');
  if (file === null) return 2;
  const config = await readConfig(file);
  if (!config) return 1;
  const code = await writeResult(String(output), print(collectionOf(config, internal === true)), call);
  if (code !== 0 || environment === undefined) return code;
  return writeResult(String(environment), print(environmentOf(config)), call);
}

function print(data: DataObject): string {
  return `${JSON.stringify(data, null, 2)}\n`;
}
