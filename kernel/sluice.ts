import type { Configuration } from '#contract';
import { catalogue } from '../plugins/index.ts';
import { GatewayError } from './contract/internal.ts';
import { type ConfigText, type Gateway, type GatewayOptions, startGateway, withPlugins } from './index.ts';

export type { Configuration } from '#contract';
export { ConfigError } from '#contract';
export type * from './contract/components.ts';
export { ConfigErrors } from './contract/internal.ts';
export type { Applied, Gateway, GatewayOptions, ListenOptions, Source } from './index.ts';

/**
 * Creates a gateway from a configuration: the path of a file, or an object with the content of one. The gateway handles
 * `inject` at once and network requests after `listen`. It writes no log unless `log`, `sinks` or a component enables it.
 *
 * @throws ConfigErrors with every error of the configuration. @throws GatewayError PLUGIN_NAME, PLUGIN_WORKERS.
 * @example
 * const gateway = await createGateway({ version: 3, endpoints: [{ endpoint: '/hi', backend: [{ host: ['http://127.0.0.1:9000'], url_pattern: '/' }] }] });
 * const { port } = await gateway.listen();
 */
export async function createGateway(
  source: string | ConfigText | Configuration,
  options: GatewayOptions = {},
): Promise<Gateway> {
  const { plugins = [] } = options;
  if (plugins.length > 0 && options.workers) {
    throw new GatewayError(
      'PLUGIN_WORKERS',
      'plugins defined in code cannot be used with workers: run the gateway in this process',
    );
  }
  for (const [index, { name }] of plugins.entries()) {
    if (Object.hasOwn(catalogue.plugins, name) || plugins.findIndex((other) => other.name === name) < index) {
      throw new GatewayError('PLUGIN_NAME', `a plugin named "${name}" already exists`);
    }
  }
  const { log = options.sinks !== undefined } = options;
  return startGateway(withPlugins(catalogue, plugins), source, { ...options, log });
}
