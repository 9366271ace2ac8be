import { atBackend, definePlugin } from '#contract';

/** Calls the backend twice. */
export const plugin = definePlugin({
  name: 'careless/repeat',
  contract: 1,
  description: 'Calls the backend twice.',
  places: [
    atBackend({ type: 'object', properties: {}, examples: [{}] }, () => ({
      backend: (next) => async (request, call) => {
        // Only later calls are doubled, so that the doubled number of calls differs from that of the first request.
        if (calls++ > 0) await next(request.copy(), call);
        return next(request, call);
      },
    })),
  ],
});

let calls = 0;
