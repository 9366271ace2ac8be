import { createClient } from 'redis';
import { atEndpoint, BackendError, before, type Call, definePlugin, refuse } from 'sluice/plugin';

/** Creates a client that never waits for a connection: a command without one fails at once. */
function clientFor(url: string, onError: (error: Error) => void) {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    socket: { connectTimeout: 1000, reconnectStrategy: (retries) => Math.min(50 * 2 ** retries, 2000) },
  });
  // Without a listener, an error would end the process. The client reconnects by itself.
  client.on('error', onError);
  return client;
}

/** Resolves or rejects with the promise, or rejects when the call is aborted first. */
function within<T>(call: Call, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancellation = call.onCancel(reject);
    promise.then(resolve, reject).finally(() => cancellation.off());
  });
}

export const plugin = definePlugin({
  name: 'acme/redis-check',
  contract: 1,
  description: 'Rejects clients whose address is in a set in Redis, and every request while Redis does not respond.',
  places: [
    atEndpoint(
      {
        type: 'object',
        examples: [{ url: 'redis://127.0.0.1:6379', set: 'blocked' }],
        required: ['url'],
        properties: {
          url: { type: 'string', pattern: '^rediss?://', secret: true, description: 'Address of the server.' },
          set: { type: 'string', minLength: 1, description: 'Key of the set.', default: 'blocked' },
          timeout: {
            type: 'duration',
            description: 'Time limit for a response of Redis.',
            default: '200ms',
            examples: ['200ms'],
          },
        },
      },
      ({ config: { url, set, timeout }, keep, start, log }) => {
        // One connection for all endpoints with this address, kept over reloads.
        const client = keep(
          { url },
          () => clientFor(url, (error) => log.warning(`redis: ${error.message || (error as { code?: string }).code}`)),
          (kept) => kept.destroy(),
        );
        // The connection is opened when the configuration serves, not while it is checked.
        start(
          async () => {
            if (!client.isOpen) await client.connect().catch(() => {});
          },
          { in: 'each' },
        );
        return {
          endpoint: before(async (request, call) => {
            const limited = call.fork(timeout);
            try {
              const isBlocked = await within(limited, client.sIsMember(set, request.ip));
              return isBlocked ? refuse(403) : undefined;
            } catch (cause) {
              const error = new BackendError('REDIS_CHECK', `redis: ${(cause as Error).message}`, { cause });
              return refuse(503, { error });
            } finally {
              limited.finish();
            }
          }),
        };
      },
    ),
  ],
});
