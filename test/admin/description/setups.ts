import { fileURLToPath } from 'node:url';
import { ConfigError } from '#contract';
import { type Participant, Refusal } from '#kernel';
import { GatewayError } from '../../../kernel/contract/internal.ts';
import { containedConfig, filePlugin } from '../../kernel/containment/support.ts';
import { until } from '../../support/conditions.ts';
import { bundledProgram, command } from '../../support/programs.ts';
import { config, openAdmin, type TestAdmin, type TestAdminOptions } from '../support.ts';

/** A gateway in a certain state. */
export interface Setup {
  readonly one: TestAdmin;
  close(): Promise<void>;
}

export type SetupName = keyof typeof setups;

/** Gateways in each state that results in other responses. */
export const setups = {
  plain: () => open(),
  /** Serves a configuration file with one component of each kind. */
  sample: () => open(fileURLToPath(new URL('sample.json', import.meta.url))),
  workers() {
    const program = bundledProgram();
    return open(config(), { gateway: { workers: { count: 1, program, args: [] } } });
  },
  /** Opens a gateway that caches responses of its backend. */
  caching() {
    const { endpoints, ...rest } = config();
    const [endpoint] = endpoints;
    const backend = endpoint!.backend.map((one) => ({ ...one, extra_config: { 'qos/http-cache': {} } }));
    return open({ ...rest, endpoints: [{ ...endpoint, backend }] });
  },
  /** A gateway that has recorded a request. */
  async recording() {
    const source = { ...config(), extra_config: { 'telemetry/recorder': { sample_rate: 1 } } };
    const setup = await open(source, { gateway: { program: command } });
    await setup.one.gateway.inject('/nowhere');
    return setup;
  },
  /** A gateway with a shadow run in progress. */
  async shadowing() {
    const setup = await open(config(), { gateway: { program: command } });
    await setup.one.ask('/v1/config?shadow=1h', { method: 'PUT', body: config('/b') });
    return setup;
  },
  /** A gateway with a plugin that was suspended after a failure. */
  async failing() {
    const fail = (): never => {
      throw new Error('no');
    };
    const hooks = { endpoint: { endpoint: () => fail } };
    const failing = containedConfig('http://127.0.0.1:9', hooks, { policy: { suspend_after: 1 } });
    const setup = await open(failing, { gateway: { plugins: [filePlugin(import.meta.url, hooks)] } });
    await setup.one.gateway.inject('/a');
    return setup;
  },
  /** A gateway with an agent whose broker does not respond. */
  async agents() {
    const agent = {
      name: 'orders',
      consumer: { topic: 'orders' },
      backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }],
      extra_config: { 'async/nats': { host: 'nats://127.0.0.1:9' } },
    };
    const setup = await open({ ...config(), async_agent: [agent] });
    await until(() => setup.one.gateway.serving.compiled.agents[0]!.status()!.retries > 0);
    return setup;
  },
  small: () => open(withSettings({ max_body: 4 })),
  careful: () => open(withSettings({ require_if_match: true })),
  /** A gateway that has received too many wrong tokens. */
  async flooded() {
    const setup = await open();
    for (let failure = 0; failure < 10; failure++) await setup.one.ask('/v1/status', { token: 'wrong' });
    return setup;
  },
  /** A gateway whose first revision was pruned. */
  async forgetful() {
    const setup = await open(withSettings({ revisions: 1 }));
    for (const path of ['/b', '/c']) {
      await setup.one.ask('/v1/config', { method: 'PUT', body: withSettings({ revisions: 1 }, path) });
    }
    return setup;
  },
  async ending() {
    const setup = await open();
    await setup.one.gateway.close();
    return setup;
  },
  /** A gateway that is applying a change until it is closed. */
  async busy() {
    const { promise, resolve: release } = Promise.withResolvers<void>();
    const setup = await open();
    const { one } = setup;
    join(one, () => promise);
    const changed = one.ask('/v1/config', { method: 'PUT', body: config('/z') });
    await until(() => one.gateway.attempts.list[0]!.result === 'running');
    return {
      one,
      async close() {
        release();
        await changed;
        await setup.close();
      },
    };
  },
  refusing: () => thwarted(new Refusal('validation', 'prepare', [new ConfigError('A_RULE', '/port', 'no')], null)),
  lacking: () => thwarted(new Refusal('warmup', 'prepare', [new ConfigError('LISTENER_BIND', '/port', 'no')], null)),
  late: () => thwarted(new GatewayError('PREPARE_TIMEOUT', 'a worker is late')),
} satisfies Record<string, () => Promise<Setup>>;

async function open(source: string | object = config(), options: TestAdminOptions = {}): Promise<Setup> {
  const one = await openAdmin(source, options);
  // Waits until the first revision is written to the history.
  await until(() => one.gateway.revisions.list().length > 0);
  return { one, close: () => one.close() };
}

function withSettings(settings: object, ...paths: string[]): object {
  return { ...config(...paths), extra_config: { 'admin/api': settings } };
}

/** A gateway on which every change fails in its last step. */
async function thwarted(error: Error): Promise<Setup> {
  const setup = await open();
  join(setup.one, () => Promise.reject(error));
  return setup;
}

/** @param prepared settles when the gateway may continue. */
function join({ gateway }: TestAdmin, prepared: () => Promise<void>): void {
  const participant: Participant = {
    async prepare() {
      await prepared();
      return { commit() {}, abort() {} };
    },
  };
  gateway.join(participant);
}
