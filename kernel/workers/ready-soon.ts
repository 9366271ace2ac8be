import { GatewayError } from '../contract/internal.ts';

/**
 * Waits for a worker that is starting, only for a limited time, so that a worker that keeps crashing does not hold up the
 * others forever. @throws GatewayError CHANNEL_TIMEOUT.
 */
export async function readySoon(ready: Promise<void>, waitMs: number): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const late = setTimeout(() => {
    reject(new GatewayError('CHANNEL_TIMEOUT', `not started within ${waitMs} ms`));
  }, waitMs);
  await Promise.race([ready, promise]).finally(() => clearTimeout(late));
}
