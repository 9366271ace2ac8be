import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Flags } from '#contract';
import { oneOf, readArguments, UsageError } from '../arguments.ts';
import type { Command } from '../command.ts';
import { cannotWrite } from '../files/file-errors.ts';
import { ownModules } from './own-modules.ts';
import { namingOf, skeletons as native } from './skeletons/index.ts';

const flags = {
  kind: {
    type: 'string',
    value: 'KIND',
    default: 'endpoint',
    about: `Kind of plugin: ${Object.keys(native).join(', ')}; or kind of module: middleware (alias module), request-modifier, response-modifier, http-client, http-server.`,
  },
  isolate: {
    type: 'boolean',
    default: false,
    about: 'Run the module in a separate thread. Not supported by http-server and by kinds of plugins.',
  },
  folder: { type: 'string', value: 'DIRECTORY', default: './plugins', about: 'Destination folder.' },
} as const satisfies Flags;

/**
 * Writes a working plugin, its test, and the settings for a compiler and an editor. Existing files are not replaced.
 */
export const newPlugin: Command = {
  usage: 'NAME',
  flags,
  summary: 'Create a working plugin with a test.',
  details: 'NAME is the namespace of the plugin, for example acme/header. Files are named after its last segment.',
  async run(args, { catalogue, stdout, stderr }) {
    const { values, positionals } = readArguments(args, flags, true);
    const [name, ...others] = positionals;
    if (name === undefined || others.length > 0)
      throw new UsageError('exactly one name is required, for example acme/header');
    if (!/^[a-z][a-z0-9-]*(?:\/[a-z][a-z0-9-]*)*$/.test(name)) {
      throw new UsageError(`not a namespace: ${name}; lower-case words joined by - and /, as in acme/header`);
    }
    const skeletons = { ...native, ...(await catalogue.skeletons?.())?.skeletons };
    const skeleton = skeletons[oneOf('kind', values.kind, Object.keys(skeletons))]!;
    if (values.isolate && !skeleton.canBeIsolated) {
      const kinds = Object.keys(skeletons).filter((kind) => skeletons[kind]!.canBeIsolated);
      throw new UsageError(`--isolate cannot be combined with --kind ${values.kind}; use one of ${kinds.join(', ')}`);
    }
    const naming = namingOf(name, values.isolate);
    const { word } = naming;
    const folder = resolve(values.folder);
    const files = [
      { file: join(folder, `${word}.ts`), text: skeleton.plugin(naming), isShared: false },
      { file: join(folder, `${word}.test.ts`), text: skeleton.test(naming), isShared: false },
      { file: join(folder, 'tsconfig.json'), text: compilerSettings(folder), isShared: true },
      {
        file: join(folder, 'package.json'),
        text: `${JSON.stringify({ type: 'module', private: true }, null, 2)}\n`,
        isShared: true,
      },
    ];
    const taken = files.find(({ file, isShared }) => !isShared && existsSync(file));
    if (taken) {
      stderr.write(`ERROR ${taken.file} already exists\n`);
      return 1;
    }
    for (const { file, text } of files) {
      if (existsSync(file)) continue;
      try {
        mkdirSync(folder, { recursive: true });
        writeFileSync(file, text, { flag: 'wx' });
        stdout.write(`${relative(process.cwd(), file)}\n`);
      } catch (error) {
        stderr.write(`${cannotWrite(file, error)}\n`);
        return 1;
      }
    }
    const shown = relative(process.cwd(), folder) || '.';
    stdout.write(`
Test it:   sluice plugin test ${shown}
Types:     npm install --save-dev typescript @types/node && npx tsc --project ${shown}
           A gateway does not check types when it loads a file.
Use it:    "plugin": { "folder": "./${shown}/" } at the root of the configuration,
           ${skeleton.usage(naming)}
`);
    return 0;
  },
};

/**
 * Returns the compiler settings; if the package is not installed for the folder, they include the path of its types.
 */
function compilerSettings(folder: string): string {
  const compilerOptions = {
    target: 'es2024',
    lib: ['es2024', 'esnext'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    skipLibCheck: true,
    ...(!isInstalledFor(folder) && { paths: typePaths(folder) }),
  };
  return `${JSON.stringify({ compilerOptions, include: ['**/*.ts'] }, null, 2)}\n`;
}

function isInstalledFor(folder: string): boolean {
  try {
    createRequire(pathToFileURL(join(folder, 'index.js'))).resolve('sluice/plugin');
    return true;
  } catch {
    return false;
  }
}

function typePaths(folder: string): Record<string, readonly string[]> {
  const entries = Object.entries(ownModules).map(([name, url]) => {
    const file = fileURLToPath(url).replace(/\.js$/, '.d.ts');
    const path = relative(folder, file);
    return [name, [dirname(path).startsWith('.') ? path : `./${path}`]] as const;
  });
  return Object.fromEntries(entries);
}
