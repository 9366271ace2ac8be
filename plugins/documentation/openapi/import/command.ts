import { readFile } from 'node:fs/promises';
import { type CommandCall, type DataObject, isObject, type PluginCommand, parseExact } from '#contract';
import { parseYaml } from '../../../engines/documents/yaml/reader.ts';
import { writeResult } from '../../lib/write-result.ts';
import { printDocument } from '../export/print-document.ts';
import { readSpec, SpecError } from './read-spec.ts';
import { type Imported, type ImportOptions, toConfiguration } from './to-configuration.ts';

const flags = {
  output: {
    type: 'string',
    short: 'o',
    value: 'FILE',
    otherwise: 'gateway.json, or gateway.yaml with --yaml, if it does not exist yet',
    about: 'Output file. - writes to standard output.',
  },
  config: {
    type: 'string',
    short: 'c',
    value: 'FILE',
    otherwise: 'none',
    about: 'Configuration, JSON or YAML, to add the endpoints to. Its own endpoints are kept.',
  },
  'base-host': {
    type: 'string',
    value: 'ADDRESS',
    otherwise: 'the first server of each document',
    about: 'Base URL of the backends, for example http://users.internal:8080.',
  },
  prefix: { type: 'string', value: 'PATH', otherwise: 'none', about: 'Path prefix of every endpoint.' },
  'output-encoding': { type: 'string', value: 'NAME', default: 'json', about: 'Response encoding.' },
  timeout: {
    type: 'string',
    value: 'DURATION',
    otherwise: "the gateway's timeout",
    about: 'Timeout of all endpoints.',
  },
  validate: { type: 'boolean', about: 'Validate request bodies against their JSON Schemas.' },
  remote: { type: 'boolean', about: 'Fetch documents and their references over HTTP.' },
  yaml: { type: 'boolean', about: 'Write YAML instead of JSON.' },
} as const;

/** `sluice import openapi`: writes a configuration that serves the operations of OpenAPI documents. */
export const importCommand: PluginCommand = {
  usage: 'SPEC...',
  summary: 'Create a configuration from OpenAPI documents.',
  details:
    'Documents of Swagger 2.0 and OpenAPI 3.0 and 3.1, JSON or YAML; several become one configuration. Anything that cannot be\n' +
    'served is skipped and reported. Exit 1 for a document that cannot be read, or without an address of its backends.',
  flags,
  aliases: ['openapi import'],
  async run(call) {
    const imported = await importSpecs(call);
    if (typeof imported === 'number') return imported;
    const { output, yaml } = call.values;
    const path = typeof output === 'string' ? output : `gateway.${yaml ? 'yaml' : 'json'}`;
    const isNew = output === undefined;
    return writeResult(path, printDocument(imported.configuration, yaml === true), call, { isNew });
  },
};

/** Flags shared by import commands. */
export const importFlags = flags;

/** Imports the documents of a command call; reports information that was lost on standard error. @returns an exit code if the import failed. */
export async function importSpecs({ values, positionals, stderr }: CommandCall): Promise<Imported | number> {
  if (positionals.length === 0) {
    stderr.write('a document is required: sluice import openapi SPEC\n');
    return 2;
  }
  const { 'base-host': baseHost, prefix, timeout, 'output-encoding': outputEncoding = 'json', config } = values;
  if (typeof baseHost === 'string' && !/^https?:\/\/[^/]/.test(baseHost)) {
    stderr.write(`not an http or https URL: ${baseHost}\n`);
    return 2;
  }
  try {
    const specs = [];
    for (const address of positionals) {
      specs.push([address, await readSpec(address, values['remote'] === true)] as const);
    }
    const options: ImportOptions = {
      baseHost: typeof baseHost === 'string' ? baseHost : undefined,
      prefix: typeof prefix === 'string' ? `/${prefix}`.replace(/\/+/g, '/').replace(/\/$/, '') : '',
      outputEncoding: String(outputEncoding),
      timeout: typeof timeout === 'string' ? timeout : undefined,
      validate: values['validate'] === true,
      existing: typeof config === 'string' ? await readExisting(config) : undefined,
    };
    const imported = toConfiguration(specs, options);
    for (const note of imported.notes) stderr.write(`WARNING ${note}\n`);
    for (const error of imported.errors) stderr.write(`ERROR ${error}\n`);
    return imported.errors.length > 0 ? 1 : imported;
  } catch (error) {
    if (error instanceof RangeError) {
      stderr.write('ERROR a document is nested too deeply\n');
      return 1;
    }
    if (!(error instanceof SpecError)) throw error;
    stderr.write(`ERROR ${error.message}\n`);
    return 1;
  }
}

async function readExisting(file: string): Promise<DataObject> {
  let data: unknown;
  try {
    const text = await readFile(file, 'utf8');
    data = /^\s*\{/.test(text) ? parseExact(text) : parseYaml(text);
  } catch (error) {
    throw new SpecError(`cannot read ${file}: ${(error as Error).message}`);
  }
  if (!isObject(data) || data['version'] !== 3) throw new SpecError(`${file} is not a version 3 configuration`);
  return data;
}
