import { atBackend, before, definePlugin } from '#contract';

/** Inserts parameters into the URL without encoding. */
export const plugin = definePlugin({
  name: 'careless/rewrite',
  contract: 1,
  description: 'Decodes the URL of the backend.',
  places: [
    atBackend({ type: 'object', properties: {}, examples: [{}] }, () => ({
      backend: before((request) => {
        request.target = decodeURIComponent(request.target);
      }),
    })),
  ],
});
