import { statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { type ConfigError, isObject, type Plugin } from '#contract';
import { ConfigErrors } from '../../contract/internal.ts';
import { PluginLoader } from '../../registry/loading/plugin-loader.ts';
import { ReadFiles } from '../../runtime/prints/read-files.ts';
import { openHarness } from '../../testing/index.ts';
import { readArguments } from '../arguments.ts';
import type { Command, CommandContext } from '../command.ts';
import { typeErrorsOf } from './check-types.ts';

/**
 * Loads plugins as a gateway would, and attaches every example of their schemas; reports failures, and resources that
 * an attachment does not release. Nothing is started: an agent consumes no messages.
 */
export const checkPlugins: Command = {
  usage: '[FILE | DIRECTORY]...',
  flags: {},
  summary: 'Load plugins as a gateway does, attach them with the examples of their schemas, and check types.',
  details:
    'Without an argument, the plugins in ./plugins are checked. Types are checked in folders with a tsconfig.json, by the TypeScript version installed there; a gateway never checks types. Exit codes: 0 no issues, 1 issues found.',
  async run(args, context) {
    const { positionals } = readArguments(args, {}, true);
    const paths = positionals.length > 0 ? positionals : ['./plugins'];
    let wrong = 0;
    for (const path of paths) wrong += await checkPath(resolve(path), context);
    return wrong === 0 ? 0 : 1;
  },
};

async function checkPath(path: string, { catalogue, stdout, stderr }: CommandContext): Promise<number> {
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  const folder = isFile ? dirname(path) : path;
  const settings = isFile ? { folder, pattern: basename(path) } : { folder };
  const isTaken = (name: string) => Object.hasOwn(catalogue.plugins, name);
  const { plugins, errors, warnings } = await new PluginLoader(catalogue.adapt).load(
    settings,
    undefined,
    new ReadFiles(),
    isTaken,
  );
  let wrong = 0;
  const report = (line: string) => {
    wrong++;
    stderr.write(`ERROR ${line}\n`);
  };
  for (const error of errors) report(lineOf(error));
  for (const warning of warnings) stderr.write(`WARNING ${lineOf(warning)}\n`);
  for (const plugin of plugins) {
    const before = wrong;
    await attachExamples(plugin, (line) => report(`${plugin.source!.file}: ${plugin.name}: ${line}`));
    if (wrong > before) continue;
    for (const name of plugin.handlers ?? [plugin.name]) stdout.write(`OK ${name} ${plugin.source!.file}\n`);
  }
  const typeErrors = await typeErrorsOf(folder);
  for (const error of typeErrors ?? []) if (!isFile || error.startsWith(`${path}:`)) report(error);
  if (typeErrors === null) {
    stderr.write(
      `WARNING types of ${folder} were not checked: no TypeScript is installed for it; hint: npm install --save-dev typescript @types/node\n`,
    );
  }
  return wrong;
}

function lineOf({ message, code, hint }: ConfigError): string {
  return `${message} [${code}]${hint === undefined ? '' : `; hint: ${hint}`}`;
}

async function attachExamples(plugin: Plugin, report: (line: string) => void): Promise<void> {
  for (const { at, schema } of plugin.places ?? []) {
    const examples = isObject(schema) && Array.isArray(schema['examples']) ? schema['examples'] : [];
    for (const [index, example] of examples.entries()) {
      const subject = `example ${index} of its schema at ${at} level`;
      try {
        const gate = await openHarness(plugin, at, example, { starts: false });
        const { kept, deferred } = await gate.close();
        if (kept + deferred > 0)
          report(`${subject} does not release ${kept} kept values and ${deferred} deferred calls`);
      } catch (error) {
        const messages = error instanceof ConfigErrors ? error.errors.map(lineOf) : [String(error)];
        for (const message of messages) report(`${subject}: ${message}`);
      }
    }
  }
}
