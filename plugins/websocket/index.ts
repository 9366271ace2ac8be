import { type AtEndpoint, atEndpoint, before, definePlugin, meters } from '#contract';
import { convertEndpoints } from './convert.ts';
import { refuseHandshake } from './handshake.ts';
import { directProtocol, sharedProtocol } from './modes.ts';
import { schema } from './schema.ts';
import { checkConfig, checkHosts, nameHosts, warnOfUnused } from './settings.ts';

/**
 * Connects WebSocket clients (RFC 6455) to a WebSocket backend: over one connection per client, or over a single
 * connection that all clients of the endpoint share. Placed inside the components that reject requests.
 *
 * Configuration errors: `WEBSOCKET_BACKENDS`, `WEBSOCKET_HOST`, `WEBSOCKET_DURATION`, `WEBSOCKET_PONG_WAIT` and those
 * of `client_tls`; warnings `WEBSOCKET_METHOD`, `WEBSOCKET_UNUSED`. Errors of a call: `WEBSOCKET_DIAL`,
 * `WEBSOCKET_DOWN`.
 */
export const plugin = definePlugin({
  name: 'websocket',
  description:
    'Connects clients to a backend over WebSocket, with one backend connection per client or a shared one per endpoint.',
  leaves: ['data'],
  takes: [meters],
  convert: convertEndpoints,
  places: [
    atEndpoint(schema, (site): AtEndpoint => {
      checkConfig(site);
      warnOfUnused(site);
      const isShared = !site.config.enable_direct_communication;
      return {
        upgrades: ['websocket'],
        endpoint: before(refuseHandshake),
        eachBackend(backendSite) {
          checkHosts(backendSite, isShared);
          nameHosts(backendSite);
          return { protocol: isShared ? sharedProtocol(site) : directProtocol(site) };
        },
      };
    }),
  ],
});
