import type { CommandCall, DataObject, PluginCommand } from '#contract';
import { configFileOf, exportFlags } from '../../lib/export-flags.ts';
import { writeResult } from '../../lib/write-result.ts';
import { describeApi } from './describe-api.ts';
import { documentFault } from './meta-schema.ts';
import { printDocument } from './print-document.ts';
import { toSwagger } from './to-swagger.ts';

/** `sluice export openapi`: writes an OpenAPI document for the endpoints of a configuration. */
export const exportCommand: PluginCommand = {
  usage: '-c FILE',
  summary: 'Export an OpenAPI document of the endpoints.',
  details: 'Exit code 1, without output, if the configuration or the resulting document is not valid.',
  flags: {
    ...exportFlags('openapi.json'),
    audience: {
      type: 'string',
      short: 'a',
      value: 'NAME',
      otherwise: 'all',
      about: 'Include only endpoints for this audience.',
    },
    'openapi-version': { type: 'string', value: 'VERSION', default: '3.0', about: 'OpenAPI version: 3.0 or 3.1.' },
    legacy: { type: 'boolean', about: 'Write Swagger 2.0.' },
    yaml: { type: 'boolean', about: 'Write YAML instead of JSON.' },
    'skip-jsonschema': {
      type: 'boolean',
      about: 'Do not derive request bodies from validation/json-schema.',
    },
  },
  aliases: ['openapi export'],
  run: exportOpenApi,
};

async function exportOpenApi(call: CommandCall): Promise<number> {
  const { values, stderr, readConfig } = call;
  const { output = 'openapi.json', audience, legacy, yaml, 'openapi-version': version = '3.0' } = values;
  const file = configFileOf(call, 'export openapi');
  if (file === null) return 2;
  if (version !== '3.0' && version !== '3.1') {
    stderr.write(`unknown openapi-version "${version}" (one of 3.0, 3.1)\n`);
    return 2;
  }
  const config = await readConfig(file);
  if (!config) return 1;
  const { document, warnings } = describeApi(config, {
    version: legacy ? '3.0' : version,
    audience: typeof audience === 'string' ? audience : undefined,
    fromValidators: !values['skip-jsonschema'],
    everyHeader: legacy === true,
  });
  const warn = (message: string) => stderr.write(`WARNING ${message}\n`);
  for (const { pointer, message } of warnings) warn(pointer === '' ? message : `${pointer}: ${message}`);
  const written: DataObject = legacy ? toSwagger(document, warn) : document;
  const fault = await documentFault(written);
  if (fault !== null) {
    stderr.write(`ERROR the document would not be valid: ${fault}\n`);
    return 1;
  }
  return writeResult(String(output), printDocument(written, yaml === true), call);
}
