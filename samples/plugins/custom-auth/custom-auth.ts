import { createHash, timingSafeEqual } from 'node:crypto';
import { atEndpoint, before, definePlugin, HeaderBag, refuse } from 'sluice/plugin';

/** Digests have the same length for every text, so the comparison takes equally long for every wrong key. */
const digest = (text: string) => createHash('sha256').update(text).digest();

export const plugin = definePlugin({
  name: 'acme/custom-auth',
  contract: 1,
  description: 'Lets in who sends the key of this endpoint as a bearer token, and says to the backend who that is.',
  places: [
    atEndpoint(
      {
        type: 'object',
        examples: [{ client: 'mobile', key_env: 'ACME_MOBILE_KEY' }],
        required: ['client', 'key_env'],
        properties: {
          client: { type: 'string', minLength: 1, description: 'Sent to backends as X-Client.' },
          key_env: { type: 'string', minLength: 1, description: 'Variable of the environment that holds the key.' },
        },
      },
      ({ config, fault }) => {
        const key = process.env[config.key_env];
        if (!key) throw fault('CUSTOM_AUTH_KEY', '/key_env', `the environment has no variable ${config.key_env}`);
        const wanted = digest(key);
        return {
          sets: ['X-Client'],
          // Receives the client's request: an invalid one is rejected before any other work.
          endpoint: before((request) => {
            const [, given] = /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '') ?? [];
            if (given !== undefined && timingSafeEqual(digest(given), wanted)) return undefined;
            return refuse(401, { headers: new HeaderBag(['WWW-Authenticate', 'Bearer realm="acme"']) });
          }),
          // Receives the request to the backends, and replaces an X-Client header that the client has sent.
          proxy: before((request) => {
            request.headers.set('X-Client', config.client);
          }),
        };
      },
    ),
  ],
});
