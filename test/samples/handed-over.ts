import { equal } from 'node:assert/strict';
import type { Operations } from '#kernel';
import { until } from '../support/conditions.ts';

/** Number of times that the requests of a guide are made until one delivers its order in time. */
export const ATTEMPTS = 6;

/**
 * The order that a waiting request is handed over a queue. On a busy machine the timeout of a sample passes before a client
 * is connected or a message is delivered: both requests are then made again.
 */
export async function handedOver(gateway: Operations, publish: string, wait: string): Promise<unknown> {
  const send = () => gateway.inject({ method: 'POST', url: publish, payload: { id: 7 } });
  let order: unknown;
  await until(async () => {
    const next = gateway.inject(wait);
    await until(async () => (await send()).statusCode === 200);
    const { statusCode, body } = await next;
    if (statusCode !== 200) {
      // The only failure that time mends.
      equal(statusCode, 500, body);
      return false;
    }
    order = JSON.parse(body);
    return true;
  });
  return order;
}
