import { parseArgs } from 'node:util';
import { type ConfigError, ConfigErrors } from '#contract';
import { type Document, readDocument } from '../config/index.ts';
import { Registry } from '../registry/registry.ts';
import { type Examined, examine } from '../runtime/build.ts';
import { type Command, UsageError } from './command.ts';
import { lintAgainst } from './lint.ts';
import { printConfig } from './print-config.ts';
import { formatIssue, toIssues } from './report.ts';
import { toolServices } from './tool-services.ts';

const options = {
  config: { type: 'string', short: 'c' },
  'test-routes': { type: 'boolean', short: 't' },
  'test-gin-routes': { type: 'boolean' },
  lint: { type: 'boolean', short: 'l' },
  'lint-no-network': { type: 'boolean', short: 'n' },
  'lint-schema': { type: 'string', short: 's' },
  debug: { type: 'boolean', short: 'd', multiple: true },
  indent: { type: 'string', short: 'i', default: '\t' },
  format: { type: 'string', default: 'text' },
} as const;

/**
 * Validates a configuration and keeps nothing. Plain `check`, `-l` and `-n` look at everything that can be seen in the
 * document; `-t` also lets every component build itself; `-s` also holds the document to a schema of the caller's. Exit 0 when it is valid, 1 when not.
 */
export const check: Command = {
  usage: '-c FILE [-t] [-l | -n | -s SCHEMA] [-d[d[d]]] [-i INDENT] [--format text|json]',
  summary: 'Validate a configuration.',
  async run(args, catalogue) {
    const { values } = parseArgs({ args, options });
    const { config: file, format } = values;
    const lints = [values.lint, values['lint-no-network'], values['lint-schema']].filter(Boolean);
    if (lints.length > 1) throw new UsageError('-l, -n and -s exclude each other');
    if (format !== 'text' && format !== 'json') throw new UsageError(`unknown format: ${format}`);
    if (file === undefined) {
      process.stderr.write('please give the configuration file: -c FILE\n');
      return 1;
    }
    const text = format === 'text';
    if (text) process.stdout.write(`Parsing configuration file: ${file}\n`);
    const attaching = Boolean(values['test-routes'] || values['test-gin-routes']);
    const registry = new Registry(catalogue, toolServices());
    const { document, config, errors: found, warnings } = await examineFile(file, registry, attaching);
    await registry.close();
    const schema = values['lint-schema'];
    const errors = schema && document ? [...found, ...(await lintAgainst(schema, document.data))] : found;
    const issues = toIssues(file, document, errors, 'error');
    const notes = toIssues(file, document, warnings, 'warning');
    const valid = issues.length === 0;
    if (!text) {
      process.stdout.write(`${JSON.stringify({ valid, errors: issues, warnings: notes })}\n`);
    } else {
      for (const note of notes) process.stderr.write(formatIssue(note));
      if (!valid) process.stderr.write(`ERROR parsing the configuration file:\t${count(issues.length)}\n`);
      for (const issue of issues) process.stderr.write(formatIssue(issue));
      if (valid && values.debug && config) printConfig(config, values.debug.length, values.indent);
      if (valid) process.stdout.write('Syntax OK!\n');
    }
    return valid ? 0 : 1;
  },
};

function count(mistakes: number): string {
  return mistakes === 1 ? '1 mistake' : `${mistakes} mistakes`;
}

interface Outcome extends Partial<Examined> {
  readonly document: Document | null;
  readonly errors: readonly ConfigError[];
  readonly warnings: readonly ConfigError[];
}

async function examineFile(file: string, registry: Registry, attaching: boolean): Promise<Outcome> {
  try {
    const document = await readDocument(file);
    const examined = await examine(document.data, {}, registry, attaching);
    return { document, ...examined, warnings: [...document.warnings, ...examined.warnings] };
  } catch (error) {
    if (!(error instanceof ConfigErrors)) throw error;
    return { document: null, errors: error.errors, warnings: [] };
  }
}
