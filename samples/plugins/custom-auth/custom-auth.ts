import { createHash, timingSafeEqual } from 'node:crypto';
import { atEndpoint, before, definePlugin, HeaderBag, refuse } from 'sluice/plugin';

/** Of one length whatever the text, so that the comparison takes the same time for every wrong key. */
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
          // The client's own request: refused before anything else is done for it.
          endpoint: before((request) => {
            const [, given] = /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '') ?? [];
            if (given !== undefined && timingSafeEqual(digest(given), wanted)) return undefined;
            return refuse(401, { headers: new HeaderBag(['WWW-Authenticate', 'Bearer realm="acme"']) });
          }),
          // What goes to the backends: a client that sends X-Client itself does not get through with it.
          proxy: before((request) => {
            request.headers.set('X-Client', config.client);
          }),
        };
      },
    ),
  ],
});
