import { equal } from 'node:assert/strict';
import type { Operations } from '#kernel';
import { until } from '../support/conditions.ts';

/** Maximum number of attempts until a request of the guide delivers its order in time. */
export const ATTEMPTS = 6;

/**
 * The order that a waiting request receives through a queue. On a busy machine, the timeout of a sample can expire before a client is connected or a message is delivered; both requests are then repeated.
 */
export async function handedOver(gateway: Operations, publish: string, wait: string): Promise<unknown> {
  const send = () => gateway.inject({ method: 'POST', url: publish, payload: { id: 7 } });
  let order: unknown;
  await until(async () => {
    const next = gateway.inject(wait);
    await until(async () => (await send()).statusCode === 200);
    const { statusCode, body } = await next;
    if (statusCode !== 200) {
      // Repeats the requests only after this failure, because a repetition cannot fix any other.
      equal(statusCode, 500, body);
      return false;
    }
    order = JSON.parse(body);
    return true;
  });
  return order;
}
