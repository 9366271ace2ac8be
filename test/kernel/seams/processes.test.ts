import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { get, request } from 'node:http';
import { atService, definePlugin, type MirrorOptions, type Role } from '#contract';
import type { Operations } from '#kernel';

import { Mirrors } from '../../../kernel/runtime/kept/mirrors.ts';
import { openHarness } from '../../../kernel/testing/index.ts';
import { until } from '../../support/conditions.ts';
import { startWith } from '../../support/plugged.ts';

const text = { type: 'object', properties: { say: { type: 'string', description: 'What.', default: '' } } } as const;

describe('background work of a plugin', () => {
  const log: string[] = [];
  let gateway: Operations | undefined;

  const consumer = definePlugin({
    name: 'test/consumer',
    description: 'Consumes.',
    places: [
      atService(text, ({ config, start, fault }) => {
        if (config.say === 'refuse') throw fault('TEST', '', 'refused');
        start((signal) => {
          log.push(`start ${config.say}`);
          signal.addEventListener('abort', () => log.push(`stop ${config.say}`));
        });
        return {};
      }),
    ],
  });
  const saying = (say: string) => ({ version: 3, extra_config: { 'test/consumer': { say } } });

  beforeEach(() => {
    log.length = 0;
  });
  afterEach(() => gateway?.close());

  it('begins when its configuration becomes active and ends when the configuration is replaced', async () => {
    gateway = await startWith([consumer], saying('a'));
    deepEqual(log, ['start a']);
    await gateway.reload(saying('b'));
    await until(() => log.includes('stop a'));
    await gateway.close();
    deepEqual(log, ['start a', 'start b', 'stop a', 'stop b']);
  });

  it('never begins for a rejected configuration or a dry run', async () => {
    gateway = await startWith([consumer], saying('a'));
    await rejects(gateway.reload(saying('refuse')));
    await gateway.apply({ trigger: 'api', source: saying('c'), dryRun: true });
    deepEqual(log, ['start a']);
  });

  const processes = { alone: 'the only process', owner: 'the main process of several', worker: 'a worker' };
  for (const [role, place, begins] of [
    ['alone', 'owner', true],
    ['alone', 'each', true],
    ['owner', 'owner', true],
    ['owner', 'each', false],
    ['worker', 'owner', false],
    ['worker', 'each', true],
  ] as const) {
    it(`for ${place === 'owner' ? 'one process' : 'every serving process'} ${begins ? 'begins' : 'does not begin'} in ${processes[role]}`, async () => {
      let begun = false;
      const plugin = definePlugin({
        name: 'test/where',
        description: 'Begins.',
        places: [
          atService(text, (site) => {
            equal(site.role, role satisfies Role);
            site.start(
              () => {
                begun = true;
              },
              { in: place },
            );
            return {};
          }),
        ],
      });
      await (await openHarness(plugin, 'service', {}, { role })).close();
      equal(begun, begins);
    });
  }
});

describe('a port opened by a plugin', () => {
  const speaking = (name: string) =>
    definePlugin({
      name,
      description: 'Answers on a port of its own.',
      places: [
        atService(
          {
            type: 'object',
            properties: { ...text.properties, port: { type: 'integer', description: 'Port.', default: 0 } },
          },
          ({ config, listen }) => {
            const port = listen({ host: '127.0.0.1', port: config.port }, (_message, response) =>
              response.end(config.say),
            );
            ports.push(port);
            return {};
          },
        ),
      ],
    });
  const ports: { readonly port: number }[] = [];
  let gateway: Operations | undefined;

  afterEach(async () => {
    await gateway?.close();
    ports.length = 0;
  });

  const askAt = (port: number) =>
    new Promise<string>((resolve, reject) => {
      get({ port, host: '127.0.0.1', agent: false }, (response) => {
        let body = '';
        response.on('data', (chunk) => {
          body += chunk;
        });
        response.on('end', () => resolve(body));
      }).on('error', reject);
    });

  it('stays open over a reload and uses the new configuration', async () => {
    const plugin = speaking('test/port');
    const config = (say: string) => ({ version: 3, extra_config: { 'test/port': { say } } });
    gateway = await startWith([plugin], config('one'));
    const { port } = ports[0]!;
    equal(await askAt(port), 'one');
    await gateway.reload(config('two'));
    equal(ports[1]!.port, port);
    equal(await askAt(port), 'two');
  });

  it('is closed with the last configuration that uses it', async () => {
    gateway = await startWith([speaking('test/port')], { extra_config: { 'test/port': {} } });
    const { port } = ports[0]!;
    await gateway.reload({ version: 3 });
    await until(async () =>
      askAt(port).then(
        () => false,
        () => true,
      ),
    );
  });

  it('that is in use rejects the configuration', async () => {
    const gate = await openHarness(speaking('test/port'), 'service', {});
    const [taken] = gate.ports;
    await rejects(
      startWith([speaking('test/port')], { extra_config: { 'test/port': { port: taken } } }),
      new RegExp(`LISTENER_BIND.*cannot listen on 127\\.0\\.0\\.1:${taken}: address already in use`),
    );
    await gate.close();
  });

  it('cannot be shared with another plugin', async () => {
    const gate = await openHarness(speaking('test/port'), 'service', {});
    const [port] = gate.ports;
    await gate.close();
    await rejects(
      startWith([speaking('test/a'), speaking('test/b')], {
        extra_config: { 'test/a': { port }, 'test/b': { port } },
      }),
      /LISTENER_TAKEN.*"test\/a" already listens on/,
    );
  });

  it('is not opened in a worker', async () => {
    const gate = await openHarness(speaking('test/port'), 'service', {}, { role: 'worker' });
    deepEqual(gate.ports, []);
    await gate.close();
  });

  it('survives a handler that throws and a client that disconnects', async () => {
    const plugin = definePlugin({
      name: 'test/broken',
      description: 'Throws.',
      places: [
        atService(text, ({ listen }) => {
          listen({ host: '127.0.0.1', port: 0 }, (message, response) => {
            if (message.url === '/throw') throw new Error('no');
            response.end('ok');
          });
          return {};
        }),
      ],
    });
    const gate = await openHarness(plugin, 'service', {});
    const [port] = gate.ports;
    const status = await new Promise<number>((resolve) => {
      get({ port, host: '127.0.0.1', path: '/throw', agent: false }, (response) =>
        resolve(response.resume().statusCode!),
      );
    });
    equal(status, 500);
    await new Promise<void>((resolve) => {
      const broken = request({ port, host: '127.0.0.1', method: 'POST', agent: false });
      broken.on('error', () => resolve());
      broken.write('x', () => broken.destroy(new Error('left')));
    });
    equal(await askAt(port!), 'ok');
    await gate.close();
  });
});

describe('caches of components', () => {
  it('are emptied by name', async () => {
    const emptied: string[] = [];
    const plugin = definePlugin({
      name: 'test/cache',
      description: 'Keeps things.',
      places: [
        atService(text, ({ cache }) => {
          for (const name of ['pages', 'pages', 'names']) cache(name, () => void emptied.push(name));
          return {};
        }),
      ],
    });
    const gateway = await startWith([plugin], { extra_config: { 'test/cache': {} } });
    deepEqual(
      [gateway.caches, gateway.emptyCache('pages'), gateway.emptyCache('other')],
      [['pages', 'names'], true, false],
    );
    deepEqual(emptied, ['pages', 'pages']);
    await gateway.close();
  });
});

describe('health details of a component', () => {
  it('are listed under agents, with their current value', async () => {
    let seen = 0;
    const plugin = definePlugin({
      name: 'test/health',
      description: 'Tells.',
      places: [
        atService(text, ({ health }) => {
          health('queue', () => ++seen);
          return {};
        }),
      ],
    });
    const gateway = await startWith([plugin], { extra_config: { 'test/health': {} } });
    await gateway.inject('/__health');
    deepEqual((await gateway.inject('/__health')).json().agents, { queue: 2 });
    await gateway.close();
  });
});

describe('a value mirrored in every process', () => {
  const sections: MirrorOptions<Set<string>, string[]> = {
    open: () => new Set(),
    apply: (value, change) => {
      for (const one of change) value.add(one);
    },
    snapshot: (value) => [...value],
  };

  /** A process that owns values, and workers that hold copies, between which messages arrive in order. */
  function processes(): { owner: Mirrors; worker(): Mirrors } {
    const owner = new Mirrors();
    const workers: Mirrors[] = [];
    const send = (id: string, change: never) => {
      for (const worker of workers) worker.receive(id, change);
    };
    owner.link = { send, fetch: null };
    return {
      owner,
      worker() {
        const worker = new Mirrors();
        worker.link = {
          send: (id, change) => owner.change(id, change),
          fetch: async (id) => owner.snapshot(id),
        };
        workers.push(worker);
        return worker;
      },
    };
  }

  it('can be changed by the owner for all processes', async () => {
    const { owner, worker } = processes();
    const own = owner.open('x', sections);
    const other = worker();
    const copy = other.open('x', sections);
    await other.complete('x');
    owner.change('x', ['a']);
    deepEqual([[...own], [...copy]], [['a'], ['a']]);
  });

  it('can be changed by a worker for all processes', async () => {
    const { owner, worker } = processes();
    const own = owner.open('x', sections);
    const [first, second] = [worker(), worker()];
    const copies = [first.open('x', sections), second.open('x', sections)];
    await Promise.all([first.complete('x'), second.complete('x')]);
    first.change('x', ['a']);
    deepEqual(
      [own, ...copies].map((value) => [...value]),
      [['a'], ['a'], ['a']],
    );
  });

  it('is complete in a worker that starts later', async () => {
    const { owner, worker } = processes();
    const seen: string[] = [];
    owner.open('x', sections);
    owner.change('x', ['a']);
    const late = worker();
    const copy = late.open('x', {
      ...sections,
      apply: (value, change) => {
        seen.push(...change);
        sections.apply(value, change);
      },
    });
    owner.change('x', ['b']);
    await late.complete('x');
    owner.change('x', ['c']);
    deepEqual([...copy], ['a', 'b', 'c']);
    deepEqual(seen, ['a', 'b', 'c']);
  });

  it('is an ordinary value if there is one process', async () => {
    const plugin = definePlugin({
      name: 'test/mirror',
      description: 'Mirrors.',
      places: [
        atService(text, ({ mirror, health }) => {
          const copy = mirror('names', sections);
          copy.change(['a']);
          health('names', () => [...copy.value]);
          return {};
        }),
      ],
    });
    const gate = await openHarness(plugin, 'service', {});
    deepEqual(gate.health.get('names')!(), ['a']);
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
  });

  it('ignores changes to values that do not exist', () => {
    const mirrors = new Mirrors();
    ok(!mirrors.receive('x', ['a']));
    equal(mirrors.snapshot('x'), undefined);
  });
});
