import { atService, definePlugin } from '#contract';
import { keeper } from './keeper.ts';
import { Recording, recordingSlot } from './recording.ts';
import { schema } from './schema.ts';

/** Records a sample of the requests, with the calls to backends, without delaying the client. */
export const plugin = definePlugin({
  name: 'telemetry/recorder',
  description: 'Records a sample of the requests with the responses of backends, as HAR files.',
  leaves: ['requests', 'data'],
  places: [
    atService(schema, (site) => {
      const { sample_rate: rate, max_body: maxBody } = site.config;
      // A gateway whose servers are mocked serves no clients and must not write files.
      if (site.use('sandbox')) return {};
      const keep = keeper(site);
      if (rate === 0) return { credentials: site.config.fields };
      return {
        credentials: site.config.fields,
        request: (next) => (request, call) => {
          if (Math.random() >= rate || call.get(recordingSlot)) return next(request, call);
          const recording = new Recording(request, maxBody);
          call.set(recordingSlot, recording);
          call.onEnd((outcome) => keep(recording, outcome, call));
          const reply = next(request, call);
          return reply instanceof Promise
            ? reply.then((settled) => recording.responded(settled))
            : recording.responded(reply);
        },
        head: ({ status, headers }, _request, call) => call.get(recordingSlot)?.answered(status, headers),
        eachBackend: ({ endpoint, index }) => {
          return {
            transport: (next) => (request, call) => {
              const exchange = call.get(recordingSlot)?.call(endpoint, index, request);
              if (!exchange) return next(request, call);
              const reply = next(request, call);
              return reply instanceof Promise
                ? reply.then((settled) => exchange.responded(settled))
                : exchange.responded(reply);
            },
          };
        },
      };
    }),
  ],
});
