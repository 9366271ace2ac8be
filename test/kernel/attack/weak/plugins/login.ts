import { atEndpoint, before, definePlugin, Reply } from '#contract';

/** A login for tests that was never removed. */
export const plugin = definePlugin({
  name: 'careless/login',
  contract: 1,
  description: 'Accepts every bearer token.',
  outside: 'auth/validator',
  places: [
    atEndpoint({ type: 'object', properties: {}, examples: [{}] }, () => ({
      endpoint: before(({ headers }) => {
        if (headers.get('authorization')?.startsWith('Bearer ')) return Reply.data({ id: 1 });
      }),
    })),
  ],
});
