import type { Flags } from '#contract';
import { endpointSchema } from '../../contract/internal.ts';
import { listRoutes, type RouteView } from '../../inspect/index.ts';
import { oneOf, readArguments, unknownWord } from '../arguments.ts';
import { type Command, configVariables } from '../command.ts';
import { configFlag, formatFlag, isJson, pluginsFlag, serveFile } from '../files/accepted-file.ts';
import { requireFile } from '../files/config-file.ts';
import { showPlace } from '../formats/report.ts';
import { alignColumns, terminalWidth } from '../terminal.ts';

const flags = {
  config: configFlag,
  plugins: pluginsFlag,
  method: {
    type: 'string',
    value: 'METHOD',
    otherwise: 'every method',
    about: 'List only endpoints with this method.',
  },
  prefix: {
    type: 'string',
    value: 'PATH',
    otherwise: 'every path',
    about: 'List only endpoints whose path starts with this prefix.',
  },
  namespace: {
    type: 'string',
    value: 'NAMESPACE',
    otherwise: 'any',
    about: 'List only endpoints that use this component.',
  },
  format: formatFlag,
} as const satisfies Flags;

const methods = endpointSchema.properties.method.enum;

/** Lists the endpoints of a configuration. Exit code 0, even for an empty list; 1 for an invalid configuration. */
export const routes: Command = {
  usage: '[FILE]',
  flags,
  variables: configVariables,
  summary: 'List the endpoints of a configuration, with their backends and components.',
  async run(args, context) {
    const { values, positionals } = readArguments(args, flags, true);
    const file = requireFile(values.config, positionals, context);
    const json = isJson(values.format);
    const { prefix, namespace } = values;
    const method = values.method && oneOf('method', values.method.toUpperCase(), methods);
    const opened = await serveFile(file, { ...context, plugins: values.plugins });
    if (!opened) return 1;
    const known = opened.registry.namespaces;
    if (namespace !== undefined && !known.includes(namespace)) throw unknownWord('namespace', namespace, known);
    const results = listRoutes(opened.served, { method, prefix, namespace }, opened.positionOf);
    const lines = json
      ? [JSON.stringify({ routes: results })]
      : alignColumns([heading, ...results.flatMap(rowsOf)], terminalWidth(context.stdout));
    context.stdout.write(`${lines.join('\n')}\n`);
    return 0;
  },
};

const heading = ['METHOD', 'ENDPOINT', 'OUTPUT', 'TIMEOUT', 'BACKEND', 'COMPONENTS', 'PLACE'];

/** Rows of an endpoint, followed by one per backend. */
function rowsOf(route: RouteView): string[][] {
  const { method, pattern, outputEncoding, timeoutMs, namespaces, backends } = route;
  return [
    [method, pattern, outputEncoding, `${timeoutMs}ms`, '', namespaces.join(', '), showPlace(route)],
    ...backends.map((backend) => {
      const hosts = backend.hosts.length === 1 ? backend.hosts[0] : `{${backend.hosts.join(', ')}}`;
      const address = backend.hosts.length === 0 ? backend.urlPattern : hosts + backend.urlPattern;
      const reached = `${backend.method} ${address} (${backend.encoding})`;
      return ['', '', '', '', reached, backend.namespaces.join(', '), showPlace(backend)];
    }),
  ];
}
