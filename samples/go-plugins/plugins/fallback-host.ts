import type { PluginModule } from 'sluice/plugin';

/** Calls a second host if the first one cannot be reached. */
export const plugin = {
  name: 'fallback-host',
  apiVersion: 1,
  configSchema: { type: 'object', required: ['host'], properties: { host: { type: 'string' } } },
  httpClient: (config, host) => async (request) => {
    const { pathname, search } = new URL(request.url);
    try {
      return await host.defaultClient(request);
    } catch {
      return host.defaultClient(new Request(config['fallback-host'].host + pathname + search));
    }
  },
} satisfies PluginModule<{ host: string }, 'fallback-host'>;
