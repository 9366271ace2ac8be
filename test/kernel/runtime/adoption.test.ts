import { deepEqual, equal, rejects } from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify as toml } from 'smol-toml';
import { stringify as yaml } from 'yaml';
import { atEndpoint, atService, before, definePlugin, definePort, HeaderBag, offer, Reply, refuse } from '#contract';
import { ConfigText, type Operations } from '#kernel';
import { until } from '../../support/conditions.ts';
import { partsOf } from '../../support/gateway.ts';
import { startWith } from '../../support/plugged.ts';
import { PluginFolder } from '../../support/plugin-folder.ts';

const texts = definePort<string[]>('texts of a test');

describe('an endpoint that a reload does not change', () => {
  let gateway: Operations;
  let steps: string[];
  let folder: PluginFolder;

  /** A component that records its lifecycle. */
  const watched = definePlugin({
    name: 'test/watched',
    description: 'A component that records its lifecycle.',
    takes: [texts],
    places: [
      atEndpoint(
        {
          type: 'object',
          properties: {
            file: { type: 'string', description: 'Is read.', default: '' },
            asks: { type: 'string', description: 'Is asked for.', default: '' },
            refuses: { type: 'boolean', description: 'It does.', default: false },
          },
        },
        ({ config, endpoint, read, setting, take, start, defer, fault, warm, health }) => {
          const name = endpoint.endpoint;
          steps.push(`attach ${name}`);
          const text = config.file === '' ? '' : Buffer.from(read(config.file)).toString();
          if (config.asks !== '') setting(config.asks as 'name');
          take(texts)?.push(name);
          if (config.refuses) throw fault('TEST_REFUSED', '', 'no');
          warm(async () => void steps.push(`warm ${name}`));
          health(`watched ${name}`, () => 'well');
          start((signal) => {
            steps.push(`start ${name}`);
            signal.addEventListener('abort', () => steps.push(`stop ${name}`));
          });
          defer(() => void steps.push(`end ${name}`));
          return { endpoint: before(() => refuse(418, { headers: new HeaderBag(['X-Text', text]) })) };
        },
      ),
    ],
  });
  const offering = (independent: boolean) =>
    definePlugin({
      name: 'test/offering',
      description: 'Offers a list.',
      offers: [texts],
      ...(independent && { independent }),
      places: [
        atService({ type: 'object' }, ({ serving }) => {
          steps.push('attach the service');
          const paths = () => serving().endpoints.map((each) => each.endpoint);
          const handle = () => Reply.raw(200, new HeaderBag(), Buffer.from(paths().join()));
          return {
            offers: [offer(texts, [])],
            routes: [{ path: '/served', description: 'What is served.', handle }],
            learnsFrom: (served) => served.endpoint.startsWith('/learnt'),
          };
        }),
      ],
    });

  const endpoint = (path: string, config: object = {}, more: object = {}) => ({
    endpoint: path,
    backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }],
    extra_config: { 'test/watched': config },
    ...more,
  });
  const config = (endpoints: readonly object[], more: object = {}) => ({ version: 3 as const, endpoints, ...more });
  const start = async (document: object, independent = true) => {
    gateway = await startWith([watched, offering(independent)], document);
    steps.length = 0;
  };
  const settled = () => until(() => gateway.status.draining === 0);

  beforeEach(() => {
    steps = [];
    folder = new PluginFolder();
  });
  afterEach(async () => {
    await gateway.close();
    folder.remove();
  });

  it('continues without a restart when another endpoint changes', async () => {
    await start(config([endpoint('/a'), endpoint('/b')]));
    await gateway.reload(config([endpoint('/a'), endpoint('/b', {}, { timeout: '7s' })]));
    await settled();
    deepEqual(steps, ['attach /b', 'warm /b', 'start /b', 'stop /b', 'end /b']);
    equal((await gateway.inject('/a')).statusCode, 418);
    const health = JSON.parse((await gateway.inject('/__health')).body);
    deepEqual(health.agents, { 'watched /a': 'well', 'watched /b': 'well' });
  });

  for (const [format, print] of [
    ['yaml', yaml],
    ['toml', toml],
  ] as const) {
    it(`continues if the configuration is rewritten in ${format.toUpperCase()}`, async () => {
      const source = (document: object) => new ConfigText(print(document), format);
      await start(config([endpoint('/a')]));
      await gateway.reload(source(config([endpoint('/a'), endpoint('/b')])));
      steps.length = 0;
      await gateway.reload(source(config([endpoint('/a'), endpoint('/b', {}, { timeout: '7s' }), endpoint('/c')])));
      await settled();
      deepEqual(steps.filter((line) => line.startsWith('attach')).sort(), ['attach /b', 'attach /c']);
    });
  }

  it('ends exactly once when it is removed', async () => {
    await start(config([endpoint('/a'), endpoint('/b')]));
    for (let index = 1; index < 6; index++) {
      await gateway.reload(config([endpoint('/a'), endpoint('/b', {}, { timeout: `${index}s` })]));
    }
    await settled();
    deepEqual(
      steps.filter((line) => line.endsWith('/a')),
      [],
    );
    await gateway.reload(config([endpoint('/b', {}, { timeout: '5s' })]));
    await settled();
    deepEqual(
      steps.filter((line) => line.endsWith('/a')),
      ['stop /a', 'end /a'],
    );
  });

  it('ends once when the gateway closes', async () => {
    await start(config([endpoint('/a'), endpoint('/b')]));
    await gateway.reload(config([endpoint('/a')]));
    await gateway.close();
    deepEqual(
      steps.filter((line) => line.endsWith('/a')),
      ['stop /a', 'end /a'],
    );
  });

  it('continues if only its position in the list changes', async () => {
    await start(config([endpoint('/a'), endpoint('/b')]));
    await gateway.reload(config([endpoint('/c'), endpoint('/b'), endpoint('/a')]));
    await settled();
    deepEqual(steps, ['attach /c', 'warm /c', 'start /c']);
  });

  it('is not affected by a rejected reload or a dry run', async () => {
    await start(config([endpoint('/a'), endpoint('/b')]));
    const { routes } = partsOf(gateway).generations.current.runtime.compiled;
    await rejects(gateway.reload(config([endpoint('/a'), endpoint('/b', { refuses: true })])), /TEST_REFUSED/);
    await gateway.apply({ trigger: 'api', source: config([endpoint('/a'), endpoint('/c')]), dryRun: true });
    deepEqual(
      steps.filter((line) => /^(?:start|stop)|end \/b/.test(line)),
      [],
    );
    equal(partsOf(gateway).generations.current.runtime.compiled.routes, routes);
    steps.length = 0;
    await gateway.reload(config([endpoint('/b')]));
    await settled();
    deepEqual(steps, ['stop /a', 'end /a']);
  });

  it('is rebuilt if a file that it read has changed', async () => {
    const file = join(folder.path, 'text');
    writeFileSync(file, 'one');
    const document = config([endpoint('/a', { file }), endpoint('/b')]);
    await start(document);
    await gateway.reload(document);
    deepEqual([...steps], []);
    writeFileSync(file, 'two');
    await gateway.reload(document);
    await settled();
    deepEqual(
      steps.filter((line) => line.startsWith('attach')),
      ['attach /a'],
    );
    equal((await gateway.inject('/a')).headers['x-text'], 'two');
  });

  it('is rebuilt if any field of the service changes', async () => {
    const endpoints = [endpoint('/a')];
    await start(config(endpoints));
    await gateway.reload(config(endpoints, { name: 'another' }));
    deepEqual(steps.slice(0, 1), ['attach /a']);
  });

  it('is rebuilt if it has read the list of all endpoints', async () => {
    await start(config([endpoint('/a', { asks: 'endpoints' }), endpoint('/b')]));
    await gateway.reload(config([endpoint('/a', { asks: 'endpoints' }), endpoint('/b'), endpoint('/c')]));
    deepEqual(steps.slice(0, 2), ['attach /a', 'attach /c']);
  });

  it('is rebuilt on request', async () => {
    await start(config([endpoint('/a')]));
    await gateway.apply({ trigger: 'api', source: config([endpoint('/a')]), force: true });
    deepEqual(steps.slice(0, 1), ['attach /a']);
  });

  it('keeps using the values that service components provide if they do not depend on endpoints', async () => {
    const service = { extra_config: { 'test/offering': {} } };
    await start(config([endpoint('/a')], service));
    await gateway.reload(config([endpoint('/a'), endpoint('/b')], service));
    deepEqual(steps, ['attach /b', 'warm /b', 'start /b']);
  });

  it('is rebuilt together with values that service components provide and that depend on endpoints', async () => {
    const service = { extra_config: { 'test/offering': {} } };
    await start(config([endpoint('/a')], service), false);
    await gateway.reload(config([endpoint('/a'), endpoint('/b')], service));
    deepEqual(steps.slice(0, 3), ['attach the service', 'attach /a', 'attach /b']);
  });

  it('is rebuilt with the service if an endpoint that the service depends on is added, changed or removed', async () => {
    const service = { extra_config: { 'test/offering': {} } };
    const learnt = endpoint('/learnt');
    const changes: readonly (readonly [what: string, endpoints: readonly object[], isWhole: boolean])[] = [
      ['another one comes', [endpoint('/a'), endpoint('/b')], false],
      ['one comes', [endpoint('/a'), endpoint('/b'), learnt], true],
      ['another one changes', [endpoint('/a', {}, { timeout: '5s' }), endpoint('/b'), learnt], false],
      ['it moves', [learnt, endpoint('/a', {}, { timeout: '5s' }), endpoint('/b')], false],
      ['it changes', [endpoint('/learnt', {}, { timeout: '5s' }), endpoint('/b')], true],
      ['it goes', [endpoint('/b')], true],
    ];
    await start(config([endpoint('/a')], service));
    for (const [what, endpoints, isWhole] of changes) {
      steps.length = 0;
      await gateway.reload(config(endpoints, service));
      equal(steps.includes('attach the service'), isWhole, what);
    }
  });

  it('lets the service read the current list of endpoints', async () => {
    const service = { extra_config: { 'test/offering': {} } };
    await start(config([endpoint('/a')], service));
    await gateway.reload(config([endpoint('/a'), endpoint('/b')], service));
    equal((await gateway.inject('/served')).body, '/a,/b');
    equal(steps.includes('attach the service'), false);
    await gateway.apply({ trigger: 'api', source: config([endpoint('/c')], service), dryRun: true });
    await rejects(gateway.reload(config([endpoint('/d', { refuses: true })], service)), /TEST_REFUSED/);
    equal((await gateway.inject('/served')).body, '/a,/b');
  });

  it('keeps no earlier configuration in memory', async () => {
    await start(config([endpoint('/a'), endpoint('/b')]));
    const { generations } = partsOf(gateway);
    for (let index = 1; index < 4; index++) {
      await gateway.reload(config([endpoint('/a'), endpoint('/b', {}, { timeout: `${index}s` })]));
    }
    await settled();
    equal(generations.leaked, 0);
    equal(generations.current.runtime.config.endpoints[0], generations.current.runtime.compiled.routes[0]!.endpoint);
  });
});
