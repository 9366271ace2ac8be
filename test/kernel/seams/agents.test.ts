import { deepEqual, equal } from 'node:assert/strict';
import { type AgentSite, atAgent, definePlugin, HeaderBag, Reply } from '#contract';
import type { ConfigErrors } from '../../../kernel/contract/internal.ts';
import type { Operations } from '../../../kernel/index.ts';
import { openHarness } from '../../../kernel/testing/index.ts';
import { until } from '../../support/conditions.ts';
import { startBackend, type TestBackend } from '../../support/gateway.ts';
import { startWith } from '../../support/plugged.ts';

/** An in-memory queue with a single consumer that takes messages one after another. */
class Queue {
  readonly done: string[] = [];
  readonly failed: string[] = [];
  #consume: ((message: string) => Promise<boolean>) | null = null;
  #waiting: string[] = [];
  opened = 0;

  put(message: string): void {
    this.#waiting.push(message);
    void this.#next();
  }

  consume(consumer: ((message: string) => Promise<boolean>) | null): void {
    this.#consume = consumer;
    void this.#next();
  }

  async #next(): Promise<void> {
    const consume = this.#consume;
    if (!consume) return;
    const message = this.#waiting.shift();
    if (message === undefined) return;
    (await consume(message)) ? this.done.push(message) : this.failed.push(message);
    void this.#next();
  }
}

describe('an async agent', () => {
  let backend: TestBackend;
  let gateway: Operations | undefined;
  let queue: Queue;

  const driver = definePlugin({
    name: 'test/queue',
    description: 'Consumes a queue in memory.',
    places: [
      atAgent(
        { type: 'object', properties: { queue: { type: 'string', description: 'Which.', default: 'q' } } },
        ({ config, keep, start, run, agent, health }: AgentSite<{ readonly queue: string }>) => {
          const connection = keep({ queue: config.queue }, () => {
            queue.opened++;
            return queue;
          });
          health(agent.name, () => ({ topic: agent.consumer.topic }));
          start(() => {
            const consume = async (message: string): Promise<boolean> => {
              const headers = new HeaderBag(['X-Topic', agent.consumer.topic]);
              const reply = await run({ body: Buffer.from(message), headers });
              return reply.errors.length === 0 && (reply.complete === true || reply.body !== null);
            };
            connection.consume(consume);
          });
        },
      ),
    ],
  });

  before(async () => {
    backend = await startBackend(({ body, target }, response) => {
      const text = String(body);
      if (text === 'slow') return;
      const status = text === 'bad' ? 500 : 200;
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify({ target }));
    });
  });
  after(() => backend.close());
  beforeEach(() => {
    queue = new Queue();
  });
  afterEach(() => gateway?.close());

  const agent = (fields: object = {}) => ({
    name: 'orders',
    consumer: { topic: 'order.*', timeout: '30s' },
    backend: [{ url_pattern: '/hook', method: 'POST' }],
    extra_config: { 'test/queue': {} },
    ...fields,
  });
  const start = async (...agents: object[]) => {
    gateway = await startWith([driver], { host: [backend.url], async_agent: agents });
    return gateway;
  };
  async function refusedAs(...agents: object[]): Promise<readonly string[]> {
    try {
      await start(...agents);
      return [];
    } catch (error) {
      return (error as ConfigErrors).errors.map(({ code, pointer }) => `${code} ${pointer}`);
    }
  }

  it('runs its pipeline for every message, with the message as the body', async () => {
    await start(agent());
    const before = backend.requests.length;
    queue.put('one');
    queue.put('two');
    await until(() => queue.done.length === 2);
    deepEqual(
      backend.requests.slice(before).map(({ method, target, body }) => `${method} ${target} ${body}`),
      ['POST /hook one', 'POST /hook two'],
    );
    deepEqual((await gateway!.inject('/__health')).json().agents, { orders: { topic: 'order.*' } });
  });

  it('reports failures to its driver, including deadlines', async () => {
    await start(agent({ consumer: { topic: 'order.*', timeout: '50ms' } }));
    queue.put('bad');
    queue.put('slow');
    await until(() => queue.failed.length === 2);
    deepEqual(queue.failed, ['bad', 'slow']);
  });

  it('keeps its connection over a reload that does not change it', async () => {
    await start(agent());
    const again = {
      version: 3,
      host: [backend.url],
      async_agent: [agent()],
      endpoints: [{ endpoint: '/x', backend: [{ url_pattern: '/' }] }],
    };
    await gateway!.reload(again);
    queue.put('one');
    await until(() => queue.done.length === 1);
    equal(queue.opened, 1);
  });

  it('is named after its position by default', async () => {
    await start(agent({ name: '' }));
    deepEqual(
      gateway!.config.async_agent.map(({ name, timeout }) => [name, timeout]),
      [['AsyncAgent-00', 30_000]],
    );
  });

  it('is rejected without a driver, with a duplicate name, and with errors in its pipeline', async () => {
    deepEqual(await refusedAs(agent({ extra_config: {} })), ['AGENT_DRIVER /async_agent/0/extra_config']);
    deepEqual(await refusedAs(agent(), agent()), ['AGENT_NAME /async_agent/1/name']);
    deepEqual(await refusedAs(agent({ backend: [{ url_pattern: '/{x}' }] })), [
      'ROUTE_PLACEHOLDER /async_agent/0/backend/0/url_pattern',
    ]);
    deepEqual(await refusedAs(agent({ consumer: {} })), ['SCHEMA_REQUIRED /async_agent/0/consumer']);
    deepEqual(await refusedAs(agent({ extra_config: { 'telemetry/instana': {} } })), [
      'CONFIG_NOT_SUPPORTED /async_agent/0/extra_config/telemetry~1instana',
    ]);
  });

  it('causes a warning for components that need a client, which a message does not have', async () => {
    await start(agent({ extra_config: { 'test/queue': {}, 'qos/ratelimit/router': { max_rate: 1 } } }));
    deepEqual(
      gateway!.status.warnings.map(({ code, pointer }) => `${code} ${pointer}`),
      ['PIPE_COMPONENT /async_agent/0/extra_config/qos~1ratelimit~1router'],
    );
  });

  it('causes no warning for components at the root', async () => {
    gateway = await startWith([driver], {
      host: [backend.url],
      endpoints: [{ endpoint: '/a', backend: [{ url_pattern: '/hook' }] }],
      async_agent: [agent()],
      extra_config: { 'telemetry/metrics': { endpoint_disabled: true } },
    });
    deepEqual(gateway.status.warnings, []);
  });

  it('completes pending messages when its configuration ends', async () => {
    let answer!: () => void;
    const slow = await startBackend((_seen, response) => {
      answer = () => response.writeHead(200).end('{"a":1}');
    });
    await start(agent({ backend: [{ url_pattern: '/', host: [slow.url] }] }));
    queue.put('one');
    await until(() => answer !== undefined);
    const closed = gateway!.close();
    answer();
    await closed;
    deepEqual(queue.done, ['one']);
    await slow.close();
  });

  it('can be tested without a gateway', async () => {
    const seen: string[] = [];
    const gate = await openHarness(
      driver,
      'agent',
      {},
      {
        next: async (request) => {
          seen.push(Buffer.from(await request.body!.bytes()).toString());
          return Reply.data({});
        },
      },
    );
    queue.put('alone');
    await until(() => queue.done.length === 1);
    deepEqual(seen, ['alone']);
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
  });
});
