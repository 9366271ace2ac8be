import type { CommandCall, DataObject, PluginCommand } from '#contract';
import { writeResult } from '../lib/write-result.ts';
import { collectionOf, environmentOf } from './collection.ts';

/** `sluice export postman`: writes what a configuration serves as a collection. */
export const exportCommand: PluginCommand = {
  usage: '-c FILE',
  summary: 'Write a collection of what is served, for Postman.',
  details: 'Exit 1 for a configuration with mistakes: then nothing is written.',
  flags: {
    config: { type: 'string', short: 'c', value: 'FILE', about: 'The configuration. Required.' },
    output: {
      type: 'string',
      short: 'o',
      value: 'FILE',
      default: 'postman.json',
      about: 'Where to write it; - for standard output.',
    },
    environment: {
      type: 'string',
      value: 'FILE',
      otherwise: 'none',
      about: 'Where to write an environment that goes with it.',
    },
    internal: { type: 'boolean', about: 'Also what the gateway answers by itself: health, debug and echo.' },
  },
  aliases: ['postman export', 'generate postman'],
  run: exportPostman,
};

async function exportPostman(call: CommandCall): Promise<number> {
  const { values, positionals, stderr, readConfig } = call;
  const { config: file, output = 'postman.json', environment, internal } = values;
  if (typeof file !== 'string' || positionals.length > 0) {
    stderr.write('a configuration is needed: sluice export postman -c FILE\n');
    return 2;
  }
  const config = await readConfig(file);
  if (!config) return 1;
  const code = await writeResult(String(output), print(collectionOf(config, internal === true)), call);
  if (code !== 0 || environment === undefined) return code;
  return writeResult(String(environment), print(environmentOf(config)), call);
}

function print(data: DataObject): string {
  return `${JSON.stringify(data, null, 2)}\n`;
}
