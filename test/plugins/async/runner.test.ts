import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { type AgentSite, atAgent, definePlugin, meters } from '#contract';
import type { Operations } from '#kernel';
import type { AgentDriver, Consuming, Outcome } from '../../../plugins/async/lib/driver.ts';
import { runAgent } from '../../../plugins/async/lib/run-agent.ts';
import { until } from '../../support/conditions.ts';
import { rememberingSinks, startBackend, type TestBackend } from '../../support/gateway.ts';
import { startWith } from '../../support/plugged.ts';

/** An in-memory queue that records the outcome of its messages. */
class Queue implements AgentDriver {
  readonly outcomes: string[] = [];
  readonly sessions: { consuming: Consuming; end: (error: Error) => void; stopped: boolean; closed: boolean }[] = [];
  refusal: Error | null = null;
  attempts: number[] = [];

  async connect(consuming: Consuming) {
    this.attempts.push(performance.now());
    if (this.refusal) throw this.refusal;
    const { promise: ended, resolve: end } = Promise.withResolvers<Error>();
    const session = { consuming, end, stopped: false, closed: false };
    this.sessions.push(session);
    return {
      ended,
      stop: async () => {
        session.stopped = true;
      },
      close: async () => {
        session.closed = true;
      },
    };
  }

  put(text: string, session = this.sessions.at(-1)!): Promise<Outcome> {
    const handled = session.consuming.handle({ body: Buffer.from(text) });
    void handled.then((outcome) => this.outcomes.push(`${text} ${outcome}`));
    return handled;
  }
}

describe('an async agent with any driver', () => {
  let backend: TestBackend;
  let gateway: Operations | undefined;
  let queue: Queue;
  /** Messages whose requests the backend delays, by their text. */
  let held: Map<string, () => void>;
  let inFlight: number;
  let most: number;
  let sinks: ReturnType<typeof rememberingSinks>;
  let opened: number;

  const driver = definePlugin({
    name: 'test/queue',
    description: 'Consumes a queue in memory.',
    takes: [meters],
    places: [
      atAgent({ type: 'object', properties: {} }, (site: AgentSite<unknown>) =>
        runAgent(site, 'memory', () => {
          opened++;
          return queue;
        }),
      ),
    ],
  });

  before(async () => {
    backend = await startBackend(({ body, target }, response) => {
      const text = String(body);
      inFlight++;
      most = Math.max(most, inFlight);
      const end = (status: number, content: string) => {
        if (response.writableEnded) return;
        inFlight--;
        response.writeHead(status, { 'Content-Type': 'application/json' }).end(content);
      };
      if (text.startsWith('hold')) held.set(text, () => end(200, '{"a":1}'));
      else if (text.startsWith('status')) end(Number(text.slice(7)), '{"a":1}');
      else if (text === 'empty') end(200, '');
      else end(200, JSON.stringify({ target }));
    });
  });
  after(() => backend.close());
  beforeEach(() => {
    queue = new Queue();
    held = new Map();
    inFlight = 0;
    most = 0;
    opened = 0;
    sinks = rememberingSinks();
  });
  afterEach(async () => {
    for (const release of held.values()) release();
    await gateway?.close();
    gateway = undefined;
  });

  const agent = ({ consumer = {}, backend: called = {}, ...more }: Record<string, object> = {}) => ({
    name: 'orders',
    connection: { backoff_strategy: 'linear', ...more['connection'] },
    consumer: { topic: 't', timeout: '20s', ...consumer },
    backend: [{ url_pattern: '/hook', method: 'POST', ...called }],
    extra_config: { 'test/queue': {} },
  });
  const config = (agents: object[], more: object = {}) => ({ host: [backend.url], async_agent: agents, ...more });
  const start = async (agents: object[], more: object = {}) => {
    gateway = await startWith([driver], config(agents, more), { sinks });
    await until(() => queue.attempts.length > 0);
  };
  const reload = (agents: object[], more: object = {}) => gateway!.reload({ version: 3, ...config(agents, more) });
  const health = async () => (await gateway!.inject('/__health')).json().agents as Record<string, string>;

  it('reports the outcome of each message to the driver', async () => {
    await start([agent()]);
    const outcomes = [];
    for (const text of ['one', 'status 201', 'status 204', 'status 500', 'empty']) outcomes.push(await queue.put(text));
    deepEqual(outcomes, ['done', 'done', 'failed', 'failed', 'failed']);
    match(sinks.lines.join(''), /ERROR.*\[SERVICE: AsyncAgent\]\[orders\] .*invalid status code 500/);
  });

  it('accepts any status and body as a success if the response is not decoded', async () => {
    await start([agent({ backend: { encoding: 'no-op' } })]);
    const outcomes = [];
    for (const text of ['status 204', 'status 500', 'empty']) outcomes.push(await queue.put(text));
    deepEqual(outcomes, ['done', 'done', 'done']);
  });

  it('fails a message if one of its backends fails', async () => {
    const two = {
      ...agent(),
      backend: [
        { url_pattern: '/', method: 'POST' },
        { url_pattern: '/', host: [backend.url] },
      ],
    };
    await start([{ ...two, backend: [...two.backend, { url_pattern: '/', host: ['http://127.0.0.1:1'] }] }]);
    equal(await queue.put('one'), 'failed');
  });

  it('processes as many messages in parallel as it has workers', async () => {
    await start([agent({ consumer: { workers: 3 } })]);
    const all = ['hold 1', 'hold 2', 'hold 3', 'hold 4'].map((text) => queue.put(text));
    await until(() => held.size === 3);
    held.get('hold 2')!();
    await until(() => held.size === 4);
    equal(most, 3);
    for (const release of held.values()) release();
    deepEqual(await Promise.all(all), ['done', 'done', 'done', 'done']);
  });

  it('has one worker if the configured number is negative', async () => {
    await start([agent({ consumer: { workers: -2 } })]);
    equal(await queue.put('one'), 'done');
  });

  it('applies its rate limit to all its workers together', async () => {
    await start([agent({ consumer: { workers: 4, max_rate: 20 } })]);
    const began = performance.now();
    // The rate allows 20 messages immediately, then one every 50 ms.
    await Promise.all(Array.from({ length: 26 }, (_, index) => queue.put(String(index))));
    const ms = performance.now() - began;
    ok(ms > 250, `${ms} ms`);
  });

  it('applies the rate limit of a new configuration immediately, even to waiting messages', async () => {
    await start([agent({ consumer: { max_rate: 0.001 } })]);
    equal(await queue.put('one'), 'done');
    const second = queue.put('two');
    await reload([agent({ consumer: { max_rate: 0 } })]);
    equal(await second, 'done');
  });

  it('fails a message that exceeds the timeout', async () => {
    await start([agent({ consumer: { timeout: '80ms' } })]);
    equal(await queue.put('hold'), 'failed');
    match(sinks.lines.join(''), /context deadline exceeded/);
  });

  it('reconnects with its backoff strategy, and gives up after max_retries without affecting the gateway', async () => {
    queue.refusal = new Error('refused');
    await start([agent({ connection: { max_retries: 2 } })], {
      endpoints: [{ endpoint: '/x', backend: [{ url_pattern: '/x', host: [backend.url] }] }],
    });
    await until(() => sinks.lines.some((line) => line.includes('too many retries')));
    const [first = 0, second = 0, third = 0] = queue.attempts;
    equal(queue.attempts.length, 3);
    ok(second - first > 990 && third - second > 1990, String(queue.attempts));
    equal((await gateway!.inject('/x')).statusCode, 200);
    equal((await health())['orders'], null);
    queue.refusal = null;
    await reload([agent()]);
    await until(() => queue.sessions.length === 1);
  });

  it('reconnects when its session ends', async () => {
    await start([agent()]);
    queue.sessions[0]!.end(new Error('gone'));
    await until(() => queue.sessions.length === 2);
    match(sinks.lines.join(''), /WARN.*Consumer stopped: gone/);
    equal(await queue.put('one'), 'done');
    equal(queue.sessions[0]!.closed, true);
  });

  it('reports the time of its last health check in the health endpoint', async () => {
    await start([agent({ connection: { health_interval: '1ms' } })]);
    await until(async () => (await health())['orders'] !== null);
    const first = (await health())['orders']!;
    equal(new Date(first).toISOString(), first);
    await until(async () => (await health())['orders'] !== first);
    const tookMs = Date.parse((await health())['orders']!) - Date.parse(first);
    ok(tookMs > 900, `below a second means a second, it took ${tookMs} ms`);
  });

  it('continues across a reload that does not change its consumer, with the new pipeline', async () => {
    await start([agent()]);
    const running = queue.put('hold 1');
    await until(() => held.size === 1);
    await reload([agent({ backend: { url_pattern: '/other' } })], {
      endpoints: [{ endpoint: '/x', backend: [{ url_pattern: '/' }] }],
    });
    const waiting = queue.put('two');
    held.get('hold 1')!();
    deepEqual([await running, await waiting], ['done', 'done']);
    equal(backend.requests.at(-1)!.target, '/other');
    deepEqual([queue.sessions.length, opened, queue.sessions[0]!.stopped], [1, 1, false]);
  });

  it('resets its retry count after a session of more than five seconds', async () => {
    await start([agent({ connection: { max_retries: 1 } })]);
    queue.sessions[0]!.end(new Error('at once'));
    await until(() => queue.sessions.length === 2);
    const began = performance.now();
    await until(() => performance.now() - began > 5100);
    queue.sessions[1]!.end(new Error('late'));
    await until(() => queue.sessions.length === 3);
    queue.sessions[2]!.end(new Error('at once'));
    await until(() => queue.sessions.length === 4);
    queue.sessions[3]!.end(new Error('at once'));
    await until(() => sinks.lines.some((line) => line.includes('too many retries')));
  });

  it('adds workers on a reload without restarting', async () => {
    await start([agent()]);
    void queue.put('hold 1');
    void queue.put('hold 2');
    await until(() => held.size === 1);
    await reload([agent({ consumer: { workers: 2 } })]);
    await until(() => held.size === 2);
    equal(queue.sessions.length, 1);
  });

  it('drains when a reload removes it, and returns waiting messages to the broker', async () => {
    await start([agent()]);
    const running = queue.put('hold 1');
    const waiting = queue.put('two');
    await until(() => held.size === 1);
    await reload([]);
    equal(await waiting, 'returned');
    equal(queue.sessions[0]!.stopped, true);
    equal(queue.sessions[0]!.closed, false);
    held.get('hold 1')!();
    equal(await running, 'done');
    await until(() => queue.sessions[0]!.closed);
  });

  it('restarts if a reload adds it again while it drains', async () => {
    await start([agent()]);
    const running = queue.put('hold 1');
    await until(() => held.size === 1);
    await reload([]);
    await until(() => queue.sessions[0]!.stopped);
    await reload([agent()]);
    equal(queue.sessions.length, 1);
    held.get('hold 1')!();
    equal(await running, 'done');
    await until(() => queue.sessions.length === 2);
    equal(await queue.put('one'), 'done');
  });

  it('drains when the gateway closes', async () => {
    await start([agent()]);
    const running = queue.put('hold 1');
    await until(() => held.size === 1);
    const closed = gateway!.close();
    await until(() => queue.sessions[0]!.stopped);
    held.get('hold 1')!();
    equal(await running, 'done');
    await closed;
    equal(queue.sessions[0]!.closed, true);
  });

  it('connects after the previous agent if sequential_start is set', async () => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const connect = queue.connect.bind(queue);
    queue.connect = async (consuming) => {
      const session = await connect(consuming);
      await gates[queue.sessions.length - 1]?.promise;
      return session;
    };
    await start([agent(), { ...agent(), name: 'bills' }], { sequential_start: true });
    equal(queue.sessions.length, 1);
    gates[0]!.resolve();
    await until(() => queue.sessions.length === 2);
    gates[1]!.resolve();
  });

  describe('while the gateway starts', () => {
    /** Sessions that are opened when the test allows them. */
    let gates: PromiseWithResolvers<void>[];
    const two = () => [agent(), { ...agent(), name: 'bills' }];
    beforeEach(() => {
      gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const connect = queue.connect.bind(queue);
      queue.connect = async (consuming) => {
        const session = await connect(consuming);
        const { signal } = consuming;
        const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        await Promise.race([gates[queue.sessions.length - 1]?.promise, aborted]);
        return session;
      };
    });
    const listening = () => {
      const state = { isOpen: false, opened: gateway!.listen() };
      state.opened.then(
        () => (state.isOpen = true),
        () => {},
      );
      return state;
    };

    it('delays the opening of the port until each agent has tried to connect, if sequential_start is set', async () => {
      await start(two(), { sequential_start: true, port: 0 });
      const state = listening();
      gates[0]!.resolve();
      await until(() => queue.sessions.length === 2);
      equal(state.isOpen, false);
      gates[1]!.resolve();
      equal((await state.opened).port > 0, true);
    });

    it('does not delay the opening of the port if sequential_start is not set', async () => {
      await start(two(), { port: 0 });
      await listening().opened;
    });

    it('does not prevent the opening of the port if no agent can connect', async () => {
      queue.refusal = new Error('no broker');
      await start(two(), { sequential_start: true, port: 0 });
      await listening().opened;
    });

    it('opens the port after a reload that does not change the agents', async () => {
      await start(two(), { sequential_start: true, port: 0 });
      await reload(two(), { sequential_start: true, port: 0, timeout: '7s' });
      const state = listening();
      gates[0]!.resolve();
      gates[1]!.resolve();
      await state.opened;
    });

    it('never opens the port of a gateway that was closed meanwhile', async () => {
      await start(two(), { sequential_start: true, port: 0 });
      const { opened: refused } = listening();
      const closed = gateway!.close();
      await rejects(refused, { code: 'LISTEN_FAILED' });
      await closed;
    });
  });
});
