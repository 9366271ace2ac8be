import { relative } from 'node:path';
import type { Flags, Plugin } from '#contract';
import { readDocument } from '../../config/index.ts';
import { ConfigErrors } from '../../contract/internal.ts';
import { readArguments } from '../arguments.ts';
import { type Command, configVariables } from '../command.ts';
import { configFlag, formatFlag, isJson, pluginsFlag } from '../files/accepted-file.ts';
import { printErrors } from '../formats/report.ts';
import { alignColumns, terminalWidth } from '../terminal.ts';
import { withTools } from '../tools.ts';

const flags = {
  config: { ...configFlag, about: 'List the plugins that this configuration names as well.' },
  plugins: { ...pluginsFlag, otherwise: 'the plugins of the configuration, or ./plugins if no configuration is given' },
  all: { type: 'boolean', default: false, about: 'Includes built-in plugins.' },
  format: formatFlag,
} as const satisfies Flags;

/** Lists plugins from files. Exit code 1 when one cannot be loaded. */
export const listPlugins: Command = {
  usage: '[-c FILE] [--plugins DIRECTORY]',
  flags,
  variables: configVariables,
  summary: 'List custom plugins, their files and where they can be used.',
  async run(args, context) {
    const { values } = readArguments(args, flags);
    const json = isJson(values.format);
    const file = values.config;
    const folder = values.plugins ?? (file === undefined && !values.all ? './plugins' : undefined);
    try {
      return await withTools({ ...context, plugins: folder }, async ({ registryOf }) => {
        const registry = await registryOf(file === undefined ? {} : (await readDocument(file)).data);
        await registry.load([...registry.namespaces, ...(registry.catalogue.always ?? [])]);
        const plugins = registry.namespaces
          .map((namespace) => registry.plugin(namespace)!)
          .filter(({ source }) => values.all || source !== undefined);
        const shown = [...new Set(plugins), ...registry.unnamed].flatMap(viewsOf);
        const rows = shown.map(({ name, kinds, file: from, hash }) => [
          name,
          kinds.join(', '),
          from ?? 'release',
          hash ?? '',
        ]);
        const lines = json
          ? [JSON.stringify({ plugins: shown })]
          : alignColumns([heading, ...rows], terminalWidth(context.stdout));
        context.stdout.write(`${lines.join('\n')}\n`);
        return 0;
      });
    } catch (error) {
      if (!(error instanceof ConfigErrors)) throw error;
      await printErrors(context, file ?? '', error.errors);
      return 1;
    }
  },
};

const heading = ['NAME', 'LEVELS', 'FILE', 'HASH'];

interface View {
  readonly name: string;
  /** Levels at which the plugin can be used, and other things that it provides, such as encodings. */
  readonly kinds: readonly string[];
  readonly file: string | null;
  readonly hash: string | null;
}

/** Returns a view of a plugin, or of each of its handlers. */
function viewsOf({ name, places = [], encodings, discoveries, secretSchemes, handlers, source }: Plugin): View[] {
  const kinds = [
    ...places.map(({ at }) => at),
    ...(encodings ? ['encoding'] : []),
    ...(discoveries ? ['discovery'] : []),
    ...(secretSchemes ? ['secrets'] : []),
    ...(handlers ? ['handler'] : []),
  ];
  return (handlers ?? [name]).map((each) => ({
    name: each,
    kinds,
    file: source ? relative(process.cwd(), source.file) : null,
    hash: source ? source.hash.slice(0, 12) : null,
  }));
}
