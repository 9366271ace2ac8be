import { setTimeout as pause } from 'node:timers/promises';
import { startBackend, startGateway } from '../../test/support/gateway.ts';
import { startRabbit } from '../../test/support/rabbitmq.ts';

/** Message counts of one run. */
export interface MessageCounts {
  /** Requests to the producer. */
  sent: number;
  /** Messages whose publication was confirmed to the client. */
  confirmed: number;
  /** Requests that failed while the broker was down; the slowest took this many milliseconds. */
  refused: number;
  slowestRefusalMs: number;
  /** Distinct messages that the agent's backend received. */
  consumed: number;
  /** Messages that were confirmed but never consumed. */
  lost: number;
  /** Messages that were consumed more than once, for example when the broker stops before an acknowledgment. */
  doubled: number;
  /** Messages that were consumed although the client received an error, because the broker stopped before the confirmation. */
  unconfirmed: number;
  reloads: number;
  restarts: number;
}

export interface MessageRun {
  readonly reloads: number;
  readonly restarts: number;
  /** Called after each restart of the broker. */
  readonly onProgress?: (counts: MessageCounts) => void;
}

/** Number of publishing clients, each sending one request after another. */
const CLIENTS = 8;

/**
 * Publishes to RabbitMQ with a producer and consumes with an agent of the same gateway, while the gateway is reloaded
 * and the broker is killed and restarted.
 */
export async function runMessages({ reloads, restarts, onProgress }: MessageRun): Promise<MessageCounts> {
  const counts: MessageCounts = {
    sent: 0,
    confirmed: 0,
    refused: 0,
    slowestRefusalMs: 0,
    consumed: 0,
    lost: 0,
    doubled: 0,
    unconfirmed: 0,
    reloads: 0,
    restarts: 0,
  };
  const confirmed = new Set<string>();
  const consumed = new Map<string, number>();
  const rabbit = await startRabbit();
  const backend = await startBackend(({ body }, response) => {
    const id = String(body);
    consumed.set(id, (consumed.get(id) ?? 0) + 1);
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  });
  const configuration = (round: number) => configurationOf(rabbit.url, backend.url, round);
  const gateway = await startGateway(configuration(0));
  try {
    await answers(gateway);
    let isOver = false;
    const client = async () => {
      while (!isOver) {
        const id = String(counts.sent++);
        const began = performance.now();
        const { statusCode } = await gateway.inject({ method: 'POST', url: '/publish', payload: id });
        if (statusCode === 200) confirmed.add(id);
        else {
          counts.refused++;
          counts.slowestRefusalMs = Math.max(counts.slowestRefusalMs, Math.round(performance.now() - began));
          await pause(20);
        }
      }
    };
    const clients = Array.from({ length: CLIENTS }, client);
    const reloading = async (until: number) => {
      while (counts.reloads < until) {
        await gateway.reload(configuration(counts.reloads + 1));
        counts.reloads++;
        await pause(20);
      }
    };
    for (let restart = 1; restart <= restarts; restart++) {
      const reloaded = reloading(Math.round((reloads * restart) / restarts));
      await pause(500);
      await rabbit.stop();
      await rabbit.start();
      await reloaded;
      await answers(gateway);
      counts.restarts++;
      onProgress?.(sumUp(counts, confirmed, consumed));
    }
    isOver = true;
    await Promise.all(clients);
    // Waits until messages in transit have arrived; messages that arrive later count as lost.
    const end = performance.now() + 30_000;
    while (sumUp(counts, confirmed, consumed).lost > 0 && performance.now() < end) await pause(50);
    return sumUp(counts, confirmed, consumed);
  } finally {
    await gateway.close();
    await backend.close();
    await rabbit.close();
  }
}

function sumUp(
  counts: MessageCounts,
  confirmed: ReadonlySet<string>,
  consumed: ReadonlyMap<string, number>,
): MessageCounts {
  const ids = [...consumed.keys()].filter((id) => id !== 'probe');
  counts.confirmed = confirmed.size;
  counts.consumed = ids.length;
  counts.lost = [...confirmed].filter((id) => !consumed.has(id)).length;
  counts.doubled = ids.filter((id) => consumed.get(id)! > 1).length;
  counts.unconfirmed = ids.filter((id) => !confirmed.has(id)).length;
  return { ...counts };
}

/** Waits until the broker accepts messages. */
async function answers(gateway: Awaited<ReturnType<typeof startGateway>>): Promise<void> {
  for (;;) {
    const { statusCode } = await gateway.inject({ method: 'POST', url: '/publish', payload: 'probe' });
    if (statusCode === 200) return;
    await pause(50);
  }
}

function configurationOf(broker: string, backend: string, round: number): object {
  const queue = { exchange: 'chaos', durable: true };
  return {
    version: 3,
    timeout: '5s',
    endpoints: [
      {
        endpoint: '/publish',
        method: 'POST',
        backend: [
          {
            host: [broker],
            disable_host_sanitize: true,
            url_pattern: '/',
            method: 'POST',
            extra_config: {
              'backend/amqp/producer': {
                ...queue,
                name: 'chaos',
                routing_key: 'k',
                static_routing_key: true,
                persistent: true,
                mandatory: true,
              },
            },
          },
        ],
      },
      { endpoint: `/other/${round}`, backend: [{ host: [backend], url_pattern: '/' }] },
    ],
    async_agent: [
      {
        name: 'chaos',
        consumer: { topic: '#', workers: 4, timeout: '5s' },
        backend: [{ host: [backend], url_pattern: `/consumed/${round}`, method: 'POST' }],
        extra_config: { 'async/amqp': { ...queue, host: broker, name: 'chaos' } },
      },
    ],
  };
}
