import { deepEqual, equal, match, notEqual } from 'node:assert/strict';
import { atEndpoint, definePlugin, type Services } from '#contract';
import { Control } from '../../../kernel/control/control.ts';
import { type Engine, type EngineOptions, openEngine } from '../../../kernel/control/engine.ts';
import { createEventLog } from '../../../kernel/control/event-log.ts';
import { version } from '../../../kernel/version.ts';
import { catalogue } from '../../../plugins/index.ts';
import { rememberingSinks } from '../../support/gateway.ts';

describe('the services of a process', () => {
  const sinks = rememberingSinks();
  const events = createEventLog();
  let engine: Engine | null = null;

  beforeEach(() => {
    sinks.lines.length = 0;
  });
  afterEach(async () => {
    await engine?.generations.close();
    await engine?.registry.close();
    engine = null;
  });

  const open = (options: Partial<EngineOptions> = {}): Engine => {
    engine = openEngine(catalogue, { sinks, events, ...options });
    return engine;
  };

  it('include a monotonic clock, a log, the version and events', () => {
    const { registry, log, denied } = open();
    const { services } = registry;
    const before = services.clock.now();
    equal(typeof before, 'number');
    equal(services.clock.now() >= before, true);
    deepEqual(
      [services.log === log, services.sinks === sinks, services.version, services.events === events],
      [true, true, version, true],
    );
    equal((services as Services & { denied: unknown }).denied, denied);
  });

  it('can be replaced, except the list of denied addresses', () => {
    const clock = { now: () => 42 };
    const { registry, denied } = open({ services: { clock, denied: null } as unknown as Partial<Services> });
    deepEqual([registry.services.clock, (registry.services as never as { denied: unknown }).denied], [clock, denied]);
  });

  it('write logs to the standard streams by default', () => {
    engine = openEngine(catalogue, { events });
    notEqual(engine.registry.services.sinks, undefined);
    equal(engine.registry.services.sinks.lost, 0);
  });

  it('delay the exit of the process for pending lines only until the log is closed', () => {
    const before = process.listenerCount('exit');
    engine = openEngine(catalogue, { events });
    equal(process.listenerCount('exit'), before + 1);
    engine.close();
    equal(process.listenerCount('exit'), before);
  });

  for (const [debug, level] of [
    [true, 'DEBUG'],
    [false, 'INFO'],
    [undefined, 'INFO'],
  ] as const) {
    it(`log lines of ${level} and above, before and after the first configuration, if debugging is ${debug}`, async () => {
      const { generations, log } = open({ debug });
      equal(log.level, level);
      const source = { version: 3, endpoints: [] };
      await new Control({ generations, overrides: {}, source, events }).apply({ trigger: 'start' });
      equal(log.level, level);
    });
  }

  /** A plugin that shares a number, and reports the process in which it starts. */
  const roles: string[] = [];
  const sharing = definePlugin({
    name: 'test/role',
    description: 'Tells the role of its process.',
    places: [
      atEndpoint({ type: 'object', properties: {} } as const, (site) => {
        site.start(() => void roles.push('owner'), { in: 'owner' });
        site.start(() => void roles.push('each'), { in: 'each' });
        return {};
      }),
    ],
  });

  for (const [role, runs] of [
    [undefined, ['owner', 'each']],
    ['owner', ['owner']],
    ['worker', ['each']],
  ] as const) {
    it(`run background work according to the role of the process: ${role ?? 'alone'}`, async () => {
      roles.length = 0;
      const plugins = { ...catalogue.plugins, [sharing.name]: async () => ({ plugin: sharing }) };
      engine = openEngine({ ...catalogue, plugins }, { sinks, events, ...(role && { role }) });
      const endpoint = {
        endpoint: '/a',
        backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }],
        extra_config: { 'test/role': {} },
      };
      const { generations } = engine;
      const source = { version: 3, endpoints: [endpoint] };
      await new Control({ generations, overrides: {}, source, events }).apply({ trigger: 'start' });
      deepEqual(roles, runs);
    });
  }

  it('write to the log', () => {
    const { log } = open();
    log.info('it is open');
    match(sinks.lines[0]!, /INFO:? it is open/);
  });
});
