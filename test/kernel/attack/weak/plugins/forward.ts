import { atBackend, before, definePlugin } from '#contract';

/** A proxy that passes headers of the client's connection on, and obeys Connection. */
export const plugin = definePlugin({
  name: 'careless/forward',
  contract: 1,
  description: 'Passes headers of the client to the backend.',
  places: [
    atBackend({ type: 'object', properties: {}, examples: [{}] }, () => ({
      backend: before(({ headers, client }) => {
        const own = client.headers.get('proxy-authorization');
        if (own !== undefined) headers.set('Proxy-Authorization', own);
        for (const name of (client.headers.get('connection') ?? '').split(','))
          headers.delete(name.trim().toLowerCase());
      }),
    })),
  ],
});
