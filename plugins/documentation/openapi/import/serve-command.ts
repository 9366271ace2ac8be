import type { DataObject, PluginCommand } from '#contract';
import { importFlags, importSpecs } from './command.ts';

const { output: _, yaml: __, ...flags } = importFlags;

/** `sluice serve openapi`: serves the operations of OpenAPI documents, with a documentation page. */
export const serveCommand: PluginCommand = {
  usage: 'SPEC...',
  summary: 'Serve the API that OpenAPI documents describe, with a documentation page.',
  details: 'Like import openapi, without writing a file. Runs until SIGTERM or SIGINT.',
  flags: {
    ...flags,
    port: { type: 'string', short: 'p', value: 'PORT', default: '8080', about: 'Listening port.' },
    page: { type: 'string', value: 'PATH', default: '/docs', about: 'Path of the documentation page.' },
  },
  aliases: ['openapi serve'],
  async run(call) {
    const { port = '8080', page = '/docs' } = call.values;
    if (!/^\d{1,5}$/.test(String(port))) {
      call.stderr.write(`not a port: ${port}\n`);
      return 2;
    }
    const imported = await importSpecs(call);
    if (typeof imported === 'number') return imported;
    const { configuration } = imported;
    const components = configuration['extra_config'] as DataObject;
    const documentation = { ...(components['documentation/openapi'] as DataObject), serve: { path: String(page) } };
    return call.serve({
      ...configuration,
      port: Number(port),
      extra_config: { ...components, 'documentation/openapi': documentation },
    });
  },
};
