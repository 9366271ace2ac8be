import { deepEqual, equal } from 'node:assert/strict';
import { type DataObject, Reply } from '#contract';
import type { Operations } from '#kernel';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/plugin/req-resp-modifier.ts';
import { json, startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';

const replacing = (settings: object, name = ['content-replacer']) => ({ name, 'content-replacer': settings });

/** Data after the replacement. */
async function replaced(settings: object, data: DataObject, name?: string[]): Promise<unknown> {
  const gate = await openHarness(plugin, 'endpoint', replacing(settings, name), { next: () => Reply.data(data) });
  const reply = await gate.send('GET /');
  deepEqual(await gate.close(), { kept: 0, deferred: 0 });
  return reply.data;
}

async function faultsOf(settings: object): Promise<string[]> {
  try {
    await (await openHarness(plugin, 'endpoint', replacing(settings))).close();
    return [];
  } catch (error) {
    return (error as { errors: { code: string }[] }).errors.map(({ code }) => code);
  }
}

describe('the modifier "content-replacer"', () => {
  it('inserts groups of a regular expression into the string', async () => {
    const card = { find: '(^\\d{4})(.*)', replace: '$' + '{1}-XXXX', regexp: true };
    deepEqual(await replaced({ 'data.card': card }, { data: { card: '1234567812345678' } }), {
      data: { card: '1234-XXXX' },
    });
  });

  it('removes a string', async () => {
    deepEqual(await replaced({ message: { find: ' items left', replace: '' } }, { message: '6 items left' }), {
      message: '6',
    });
  });

  it('replaces every occurrence of a literal string', async () => {
    deepEqual(await replaced({ n: { find: '.', replace: '#' } }, { n: 'a.b.c' }), { n: 'a#b#c' });
    deepEqual(await replaced({ n: { find: 'a', replace: '$&$1' } }, { n: 'aa' }), { n: '$&$1$&$1' });
    deepEqual(await replaced({ n: { find: '[ab]', replace: 'x', regexp: true } }, { n: 'abc' }), { n: 'xxc' });
  });

  it('does not change strings in lists', async () => {
    const any = { find: 'a', replace: 'b' };
    deepEqual(await replaced({ 'list.0': any, list: any, 'list.length': any }, { list: ['a'] }), { list: ['a'] });
  });

  it('changes existing strings only', async () => {
    const data = { age: 3, is: true, none: null, o: { a: 1 } };
    const any = { find: '3', replace: '4' };
    const settings = {
      age: any,
      is: any,
      none: any,
      o: any,
      'o.b': any,
      'none.x': any,
      constructor: any,
      '__proto__.x': any,
    };
    equal(await replaced(settings, data), data);
  });

  it('does not modify its input', async () => {
    const data = Object.freeze({ a: Object.freeze({ b: 'x', c: 'x' }), z: 1 }) as DataObject;
    deepEqual(await replaced({ 'a.b': { find: 'x', replace: 'y' } }, data), { a: { b: 'y', c: 'x' }, z: 1 });
    deepEqual(data['a'], { b: 'x', c: 'x' });
  });

  it('keeps a key named __proto__', async () => {
    const data = JSON.parse('{"__proto__":{"b":"x"},"a":"x"}');
    const result = await replaced({ a: { find: 'x', replace: 'y' } }, data);
    equal(JSON.stringify(result), '{"__proto__":{"b":"x"},"a":"y"}');
  });

  it('applies entries in order of declaration', async () => {
    const settings = {
      'a.b': { find: 'x', replace: 'y' },
      a: { find: 'y', replace: 'z' },
      c: { find: 'x', replace: 'y' },
    };
    deepEqual(await replaced(settings, { a: { b: 'x' }, c: 'x' }), { a: { b: 'y' }, c: 'y' });
  });

  it('has no effect unless it is listed, and causes a warning', async () => {
    const settings = { a: { find: 'x', replace: 'y' } };
    const gate = await openHarness(plugin, 'endpoint', replacing(settings, []));
    deepEqual(
      gate.warnings.map(({ code }) => code),
      ['PLUGIN_UNUSED'],
    );
    await gate.close();
    deepEqual(await replaced(settings, { a: 'x' }, []), { a: 'x' });
  });

  it('ignores comment keys, but not a path that resembles one', async () => {
    deepEqual(await replaced({ '@why': 'of the test', a: { find: 'x', replace: 'y', $c: 1 } }, { a: 'x' }), { a: 'y' });
    deepEqual(await replaced({ '@a': { find: 'x', replace: 'y' } }, { '@a': 'x' }), { '@a': 'y' });
  });

  it('fails if a string would become too long', async () => {
    const text = 'a'.repeat(1024 * 1024);
    for (const regexp of [false, true]) {
      const gate = await openHarness(
        plugin,
        'backend',
        replacing({ a: { find: 'a', replace: 'b'.repeat(100), regexp } }),
        {
          next: () => Reply.data({ a: text }),
        },
      );
      const reply = await gate.send('GET /');
      equal(reply.errors[0]?.code, 'PATTERN_LIMIT');
      await gate.close();
    }
    deepEqual(await replaced({ a: { find: 'ab', replace: 'b'.repeat(100) } }, { a: text }), { a: text });
  });

  it('is rejected if it has an invalid configuration', async () => {
    deepEqual(await faultsOf({ a: { find: '(', replace: '', regexp: true } }), ['PATTERN_INVALID']);
    deepEqual(await faultsOf({ a: 'text' }), ['CONTENT_REPLACER_ENTRY']);
    for (const settings of [
      {},
      { a: { find: 'x' } },
      { a: { replace: 'x' } },
      { a: { find: '', replace: 'x' } },
      { a: 1 },
    ]) {
      equal((await faultsOf(settings)).length > 0, true, JSON.stringify(settings));
    }
  });
});

describe('the modifier "content-replacer" in a gateway', () => {
  let backend: TestBackend;
  let gateway: Operations;

  before(async () => {
    backend = await startBackend(json({ n: 'a.b', m: 'a.b' }));
  });
  after(() => backend.close());
  afterEach(() => gateway.close());

  const settings = (path: string) => ({
    'plugin/req-resp-modifier': replacing({ [path]: { find: '.', replace: '#' } }),
  });

  it('changes the data of a backend within its group', async () => {
    gateway = await startGateway({
      host: [backend.url],
      endpoints: [{ endpoint: '/a', backend: [{ url_pattern: '/', group: 'g', extra_config: settings('g.n') }] }],
    });
    deepEqual((await gateway.inject('/a')).json(), { g: { n: 'a#b', m: 'a.b' } });
  });

  it('changes the merged data of an endpoint', async () => {
    const backends = ['g', 'h'].map((group) => ({ url_pattern: '/', group }));
    gateway = await startGateway({
      host: [backend.url],
      endpoints: [{ endpoint: '/a', backend: backends, extra_config: settings('h.m') }],
    });
    deepEqual((await gateway.inject('/a')).json(), { g: { n: 'a.b', m: 'a.b' }, h: { n: 'a.b', m: 'a#b' } });
  });

  it('has no effect with the no-op encoding', async () => {
    gateway = await startGateway({
      host: [backend.url],
      endpoints: [
        { endpoint: '/a', output_encoding: 'no-op', backend: [{ url_pattern: '/' }], extra_config: settings('n') },
      ],
    });
    deepEqual((await gateway.inject('/a')).json(), { n: 'a.b', m: 'a.b' });
  });
});
