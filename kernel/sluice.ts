import { catalogue } from '../plugins/index.ts';
import { type Gateway, type GatewayOptions, type Source, startGateway } from './index.ts';

export type { Applied, Gateway, GatewayOptions, Source } from './index.ts';

/**
 * Makes a gateway of this release from a configuration: a file's path, or the object a file would hold. It answers
 * `inject` at once and the network after `listen`.
 *
 * @throws ConfigErrors with every mistake of the configuration.
 * @example
 * const gateway = await createGateway({ version: 3, endpoints: [{ endpoint: '/hi', backend: [{ host: ['http://127.0.0.1:9000'], url_pattern: '/' }] }] });
 * const { port } = await gateway.listen();
 */
export function createGateway(source: Source, options?: GatewayOptions): Promise<Gateway> {
  return startGateway(catalogue, source, options);
}
