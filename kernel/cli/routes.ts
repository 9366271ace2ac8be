import { parseArgs } from 'node:util';
import { listRoutes, type RouteView } from '../inspect/index.ts';
import { isJson, requireFile, serveFile } from './accepted-file.ts';
import { alignColumns } from './columns.ts';
import type { Command } from './command.ts';
import { showPlace } from './show-place.ts';

/** Lists what a configuration publishes. Exit 0, also when nothing is listed; 1 for a configuration with mistakes. */
export const routes: Command = {
  usage: '-c FILE [--method METHOD] [--prefix PATH] [--namespace NAMESPACE] [--format text|json]',
  summary: 'List the endpoints of a configuration, with their backends and components.',
  async run(args, context) {
    const { values } = parseArgs({
      args,
      options: {
        config: { type: 'string', short: 'c' },
        method: { type: 'string' },
        prefix: { type: 'string' },
        namespace: { type: 'string' },
        format: { type: 'string', default: 'text' },
      },
    });
    const file = requireFile(values.config);
    const json = isJson(values.format);
    const opened = await serveFile(file, context);
    if (!opened) return 1;
    const { prefix, namespace } = values;
    const found = listRoutes(opened.served, { method: values.method?.toUpperCase(), prefix, namespace }, opened.place);
    const lines = json ? [JSON.stringify({ routes: found })] : alignColumns([heading, ...found.flatMap(rowsOf)]);
    context.stdout.write(`${lines.join('\n')}\n`);
    return 0;
  },
};

const heading = ['METHOD', 'ENDPOINT', 'OUTPUT', 'TIMEOUT', 'BACKEND', 'COMPONENTS', 'PLACE'];

/** The endpoint, then a row for each backend. */
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
