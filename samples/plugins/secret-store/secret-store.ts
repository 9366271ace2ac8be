import { atService, definePlugin, type StoredSecret } from 'sluice/plugin';

/** A store of secrets behind an HTTP API: `GET <address>/<name>` returns the fields of a secret as JSON. */
export const plugin = definePlugin({
  name: 'acme/secret-store',
  contract: 1,
  description: 'Fetches secrets from the store of the company.',
  secretSchemes: ['acme'],
  independent: true,
  places: [
    atService(
      {
        type: 'object',
        examples: [{ address: 'https://secrets.example.com/v1' }],
        required: ['address'],
        properties: {
          address: { type: 'string', minLength: 1, description: 'URL of the store.' },
          refresh_interval: {
            type: 'duration',
            description: 'Interval at which secrets are fetched again.',
            default: '1m',
          },
        },
      },
      ({ config }) => ({
        secrets: {
          refreshMs: config.refresh_interval,
          startupMs: 30_000,
          async fetch(name, signal): Promise<StoredSecret> {
            const response = await fetch(`${config.address}/${encodeURIComponent(name)}`, { signal });
            // The message is logged, so it must not contain parts of a secret.
            if (!response.ok) throw new Error(`status ${response.status}`);
            return { content: (await response.json()) as StoredSecret['content'] };
          },
        },
      }),
    ),
  ],
});
