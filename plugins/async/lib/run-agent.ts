import { type AgentConfig, type AgentSite, type AtAgent, type Data, meterOf } from '#contract';
import { limitOf } from '../../shared/buckets/token-bucket.ts';
import { AgentRunner } from './agent-runner.ts';
import type { AgentDriver } from './driver.ts';

/** Minimum interval between health reports, in milliseconds. */
const SHORTEST_HEALTH_MS = 1000;

/**
 * Runs an agent while its configuration serves, in one process of the gateway. The driver's plugin must list `meters`
 * in `takes`.
 * @param key identifies what is consumed, and as whom: while it stays the same, the agent continues across reloads
 * without interruption, with the pipe, workers and rate of the latest configuration.
 * @param open creates the driver, once per key.
 * @returns the attachment of the driver.
 */
export function runAgent(site: AgentSite<unknown>, key: Data, open: () => AgentDriver): AtAgent {
  const { agent, run, log, setting } = site;
  const { consumer, connection, name } = agent;
  const runner = site.keep(
    [name, consumer.topic, key],
    () => new AgentRunner(open()),
    (kept) => kept.close(),
  );
  const health = site.mirror(['health', name], {
    open: () => ({ at: null as string | null }),
    apply: (value, at: string | null) => {
      value.at = at;
    },
    snapshot: ({ at }) => at,
  });
  site.health(name, () => health.value.at);
  const attributes = {
    done: { agent: name, outcome: 'done' },
    failed: { agent: name, outcome: 'failed' },
    discarded: { agent: name, outcome: 'discarded' },
  };
  const counter = meterOf(site)?.counter('agent.messages', {
    description: 'Number of messages that were processed, or dropped before processing.',
  });
  const order = setting('sequential_start') ? orderOf(setting('async_agent')) : null;
  const job = {
    run,
    log,
    isRaw: agent.backend.some(({ encoding }) => site.encoding(encoding)?.raw === true),
    workers: Math.max(consumer.workers, 1),
    rate: consumer.max_rate > 0 ? limitOf(consumer.max_rate, 1000, 0) : null,
    maxRetries: connection.max_retries,
    strategy: connection.backoff_strategy,
    healthMs: Math.max(connection.health_interval, SHORTEST_HEALTH_MS),
    count: counter ? (outcome: keyof typeof attributes, times = 1) => counter.add(times, attributes[outcome]) : null,
    report: () => health.change(new Date().toISOString()),
    turn: order ? (signal: AbortSignal) => order.enter(signal) : async () => () => {},
  };
  site.start(
    (signal) => {
      const attempted = runner.serve(job, signal);
      return order ? attempted : undefined;
    },
    { holdsPort: order !== null },
  );
  return { status: () => runner.status };
}

/** Lets the agents of a gateway connect one after another. */
class StartOrder {
  #last: Promise<void> = Promise.resolve();

  async enter(signal: AbortSignal): Promise<() => void> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    signal.addEventListener('abort', () => resolve(), { once: true });
    await before;
    return resolve;
  }
}

/** Start order of the agents of one configuration, for all drivers. */
const orders = new WeakMap<readonly AgentConfig[], StartOrder>();

function orderOf(agents: readonly AgentConfig[]): StartOrder {
  let order = orders.get(agents);
  if (!order) {
    order = new StartOrder();
    orders.set(agents, order);
  }
  return order;
}
