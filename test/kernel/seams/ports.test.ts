import { deepEqual, equal, rejects } from 'node:assert/strict';
import { atEndpoint, atService, before as beforeRequest, definePlugin, definePort, offer, refuse } from '#contract';
import { toolServices } from '../../../kernel/cli/tools.ts';
import type { Gateway } from '../../../kernel/index.ts';
import { Registry } from '../../../kernel/registry/registry.ts';
import { examine } from '../../../kernel/runtime/build/build.ts';
import { openHarness } from '../../../kernel/testing/index.ts';
import { catalogue } from '../../../plugins/index.ts';
import { json, startBackend, type TestBackend } from '../../support/gateway.ts';
import { startWith } from '../../support/plugged.ts';

type Check = (token: string) => boolean;
const checksPort = definePort<Check>('test checks');
const nothing = { type: 'object', properties: {} } as const;
const text = { type: 'object', properties: { allow: { type: 'string', description: 'Who.', default: '' } } } as const;

/** Accepts a request if all checks that other plugins offer succeed. */
const validator = definePlugin({
  name: 'test/validator',
  description: 'Asks every check.',
  takes: [checksPort],
  places: [
    atEndpoint(nothing, ({ takeAll }) => {
      const checks = takeAll(checksPort);
      return {
        endpoint: beforeRequest((request) =>
          checks.every((check) => check(request.headers.get('x-token') ?? '')) ? undefined : refuse(403),
        ),
      };
    }),
  ],
});

const notBlank = definePlugin({
  name: 'test/not-blank',
  description: 'Offers a check to every endpoint.',
  offers: [checksPort],
  places: [atService(nothing, () => ({ offers: [offer(checksPort, (token) => token !== '')] }))],
});

const allowed = definePlugin({
  name: 'test/allowed',
  description: 'Offers a check at its endpoint.',
  offers: [checksPort],
  places: [atEndpoint(text, ({ config }) => ({ offers: [offer(checksPort, (token) => token === config.allow)] }))],
});

describe('values that one plugin offers to another', () => {
  let backend: TestBackend;
  let gateway: Gateway | undefined;

  before(async () => {
    backend = await startBackend(json({ ok: true }));
  });
  after(() => backend.close());
  afterEach(() => gateway?.close());

  const endpoint = (path: string, extra: object) => ({
    endpoint: path,
    extra_config: extra,
    backend: [{ host: [backend.url], url_pattern: '/' }],
  });
  const statusOf = async (path: string, token: string) =>
    (await gateway!.inject({ url: path, headers: { 'x-token': token } })).statusCode;

  it('are available from the endpoint and the service, in any order of declaration', async () => {
    gateway = await startWith([validator, notBlank, allowed], {
      extra_config: { 'test/not-blank': {} },
      endpoints: [
        endpoint('/open', { 'test/validator': {} }),
        endpoint('/ada', { 'test/validator': {}, 'test/allowed': { allow: 'ada' } }),
      ],
    });
    deepEqual(
      [
        await statusOf('/open', ''),
        await statusOf('/open', 'bob'),
        await statusOf('/ada', 'bob'),
        await statusOf('/ada', 'ada'),
      ],
      [403, 200, 403, 200],
    );
  });

  it('are not visible at other endpoints', async () => {
    gateway = await startWith([validator, allowed], {
      endpoints: [endpoint('/a', { 'test/allowed': { allow: 'ada' } }), endpoint('/b', { 'test/validator': {} })],
    });
    equal(await statusOf('/b', 'bob'), 200);
  });

  it("can be provided in a plugin's test", async () => {
    const gate = await openHarness(validator, 'endpoint', {}, { offers: [offer(checksPort, () => false)] });
    equal((await gate.send('GET /')).status, 403);
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
  });

  it('must be declared by the plugin that uses them', async () => {
    const careless = definePlugin({ ...validator, takes: [] });
    await rejects(openHarness(careless, 'endpoint', {}), /must list the port "test checks" in "takes"/);
  });

  it('must be declared by the plugin that offers them', async () => {
    const careless = definePlugin({ ...allowed, offers: [] });
    await rejects(
      startWith([careless], { endpoints: [endpoint('/a', { 'test/allowed': {} })] }),
      /must list the port "test checks" in "offers"/,
    );
  });

  it('are null if no plugin offers any', async () => {
    const seen: unknown[] = [];
    const asking = definePlugin({
      name: 'test/asking',
      description: 'Asks.',
      takes: [checksPort],
      places: [
        atService(nothing, ({ take, takeAll }) => {
          seen.push(take(checksPort), takeAll(checksPort));
          return {};
        }),
      ],
    });
    await (await openHarness(asking, 'service', {})).close();
    deepEqual(seen, [undefined, []]);
  });

  it('are not reported as missing if the offering plugin could not be attached, or has a file that was not read', async () => {
    const file = definePlugin({
      name: 'test/file',
      description: 'Offers what a file holds.',
      offers: [checksPort],
      places: [
        atService(text, ({ config, read }) => {
          const held = Buffer.from(read(config.allow)).toString();
          return { offers: [offer(checksPort, (token) => token === held)] };
        }),
      ],
    });
    const needy = definePlugin({
      name: 'test/needy',
      description: 'Refuses to stand without a check.',
      takes: [checksPort],
      places: [
        atEndpoint(nothing, (site) => {
          if (!site.take(checksPort)) throw site.fault('NO_CHECK', '', 'no check');
          return {};
        }),
      ],
    });
    const registry = new Registry(catalogue, toolServices()).with([file, needy], true);
    const document = (components: object) => ({
      version: 3,
      extra_config: components,
      endpoints: [endpoint('/', { 'test/needy': {} })],
    });
    const codesOf = async (components: object, reading: boolean) =>
      (await examine(document(components), {}, registry, reading)).errors.map(({ code }) => code);
    const components = { 'test/file': { allow: '/nonexistent' } };
    deepEqual(await codesOf(components, false), []);
    deepEqual(await codesOf(components, true), ['FILE_UNREADABLE']);
    deepEqual(await codesOf({ 'test/file': { allow: 5 } }, true), ['SCHEMA_TYPE']);
    deepEqual(await codesOf({}, false), ['NO_CHECK']);
    await registry.close();
  });
});
