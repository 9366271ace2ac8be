import { atBackend, definePlugin, HeaderBag, Reply, toCallError } from 'sluice/plugin';
import { LineConnection } from './connection.ts';

export const plugin = definePlugin({
  name: 'acme/lines',
  contract: 1,
  description:
    'Sends the path of each backend request to a server as a line over TCP, and reads the response as a line of JSON.',
  places: [
    atBackend(
      {
        type: 'object',
        examples: [{ timeout: '2s' }],
        properties: {
          timeout: {
            type: 'duration',
            default: '5s',
            description: 'Silence after which the connection is closed; the next request opens another.',
            examples: ['2s'],
          },
        },
      },
      ({ config, backend, keep }) => {
        // One connection per host is shared by all requests, and kept over reloads that do not change hosts or timeout.
        const connections = keep(
          { hosts: [...backend.host], timeout: config.timeout },
          () => new Map(backend.host.map((host) => [host, new LineConnection(host, config.timeout)])),
          (all) => {
            for (const connection of all.values()) connection.close();
          },
        );
        return {
          protocol: {
            schemes: ['lines'],
            async call(request, call) {
              try {
                // Targets are percent-encoded, so they contain no line breaks.
                const line = await connections.get(request.origin)!.ask(request.target, call);
                return Reply.raw(200, new HeaderBag(), Buffer.from(line));
              } catch (error) {
                return Reply.failed(toCallError(error));
              }
            },
          },
        };
      },
    ),
  ],
});
