import { existsSync } from 'node:fs';
import type { CommandCall, EndpointContract, PluginCommand } from '#contract';
import { configFileOf, exportFlags } from '../../lib/export-flags.ts';
import { writeResult } from '../../lib/write-result.ts';
import { type DescribeOptions, type Description, describeApi } from '../export/describe-api.ts';
import { documentFault } from '../export/meta-schema.ts';
import { printDocument } from '../export/print-document.ts';
import { writeClient } from './write-client.ts';

/** Folder of contracts without `--contracts`. */
const FOLDER = 'contracts';

const flagsFor = (output: string) =>
  ({
    ...exportFlags(output),
    contracts: {
      type: 'string',
      value: 'DIRECTORY',
      otherwise: `${FOLDER}, if it exists`,
      about: 'Folder of contracts, which describe the responses. sluice contracts infer writes it.',
    },
    audience: {
      type: 'string',
      short: 'a',
      value: 'NAME',
      otherwise: 'all',
      about: 'Include only endpoints for this audience.',
    },
  }) as const;

/** `sluice client typescript`: writes a module with a function for each endpoint. */
export const typescriptCommand: PluginCommand = {
  usage: '-c FILE',
  summary: 'Write a TypeScript client of the endpoints, with types from contracts.',
  details:
    'The module has no dependencies and uses fetch. Parameters have the types of the configuration, request bodies those of validation/json-schema, and responses those of contracts; a response with another status is thrown. Exit code 1, without output, if the configuration or a contract is not valid.',
  flags: flagsFor('client.ts'),
  run: (call) => describeAndWrite(call, 'typescript', 'client.ts', { forClient: true }, writeClient),
};

/** `sluice client openapi`: writes an OpenAPI 3.1 document whose responses are those of contracts. */
export const openapiCommand: PluginCommand = {
  usage: '-c FILE',
  summary: 'Write an OpenAPI 3.1 document of the endpoints, with schemas from contracts.',
  details:
    'Like export openapi; responses of contracts are added. Exit code 1, without output, if the configuration, a contract or the document is not valid.',
  flags: { ...flagsFor('openapi.json'), yaml: { type: 'boolean', about: 'Write YAML instead of JSON.' } },
  run: (call) =>
    describeAndWrite(call, 'openapi', 'openapi.json', {}, (document) =>
      printDocument(document, call.values['yaml'] === true),
    ),
};

async function describeAndWrite(
  call: CommandCall,
  name: string,
  usualOutput: string,
  options: Pick<DescribeOptions, 'forClient'>,
  write: (document: Description['document']) => string,
): Promise<number> {
  const { values, stderr, readConfig } = call;
  const file = configFileOf(call, `client ${name}`);
  if (file === null) return 2;
  const config = await readConfig(file);
  const contracts = config && (await contractsOf(call));
  if (!contracts) return 1;
  const { audience, output = usualOutput } = values;
  const wanted = typeof audience === 'string' ? audience : undefined;
  const { document, warnings } = describeApi(config, { ...options, contracts, version: '3.1', audience: wanted });
  for (const { pointer, message } of warnings)
    stderr.write(`WARNING ${pointer === '' ? '' : `${pointer}: `}${message}\n`);
  const fault = await documentFault(document);
  if (fault !== null) {
    stderr.write(`ERROR the document would not be valid: ${fault}\n`);
    return 1;
  }
  return writeResult(String(output), write(document), call);
}

async function contractsOf({ values, readContracts }: CommandCall): Promise<readonly EndpointContract[] | null> {
  const { contracts: folder } = values;
  if (typeof folder === 'string') return readContracts(folder);
  return existsSync(FOLDER) ? readContracts(FOLDER) : [];
}
