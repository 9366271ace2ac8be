import { deepEqual, equal } from 'node:assert/strict';
import { type DataObject, parseExact, printJson } from '#contract';
import { plugin } from '../../../plugins/proxy/index.ts';
import { openHarness } from '../../support/harness.ts';
import { backendConfig, over, refusal, responses } from './around.ts';

async function merged(combiner: string, ...segments: readonly string[]): Promise<string> {
  const gate = await openHarness(plugin, 'endpoint', { combiner }, over(segments.map(responses)));
  const reply = await gate.send('GET /');
  return printJson(reply.data);
}

const a = '{"id":1,"x":{"p":1,"d":{"m":1}},"l":[1],"v":{"k":1}}';
const b = '{"id":2,"x":{"q":2,"d":{"n":2}},"l":[2],"v":3}';

describe('the combiner setting of proxy', () => {
  for (const name of ['default', 'ordered']) {
    it(`with "${name}" keeps the value of the later backend for equal top-level keys`, async () => {
      equal(await merged(name, a, b), '{"id":2,"x":{"q":2,"d":{"n":2}},"l":[2],"v":3}');
    });

    it(`with "${name}" uses the default merge`, async () => {
      const gate = await openHarness(plugin, 'endpoint', { combiner: name }, over([responses(a), responses(b)]));
      equal(gate.attached.combine, undefined);
    });
  }

  it('with "append" concatenates arrays with equal top-level keys in order of declaration', async () => {
    equal(
      await merged('append', '{"collection":[1],"n":1}', '{"collection":[2,3],"n":2}', '{"collection":[4]}'),
      '{"collection":[1,2,3,4],"n":2}',
    );
  });

  it('with "append" replaces values unless both are arrays', async () => {
    equal(await merged('append', a, b), '{"id":2,"x":{"q":2,"d":{"n":2}},"l":[1,2],"v":3}');
    equal(await merged('append', '{"l":[1]}', '{"l":{"a":1}}'), '{"l":{"a":1}}');
  });

  it('with "deep" merges objects with equal keys at any depth and replaces other values', async () => {
    equal(await merged('deep', a, b), '{"id":2,"x":{"p":1,"d":{"m":1,"n":2},"q":2},"l":[2],"v":3}');
  });

  it('does not mutate the responses that it merges', async () => {
    for (const combiner of ['append', 'deep']) {
      const gate = await openHarness(plugin, 'endpoint', { combiner }, over([responses(a), responses(b)]));
      const sections = [a, b, a].map((text) => parseExact(text) as DataObject);
      gate.attached.combine!(sections);
      deepEqual(sections.map(printJson), [a, b, a]);
    }
  });

  it('returns an empty object without responses', async () => {
    for (const combiner of ['append', 'deep']) {
      const gate = await openHarness(plugin, 'endpoint', { combiner }, over([responses(a), responses(b)]));
      deepEqual(gate.attached.combine!([]), {});
    }
  });

  it('treats keys such as __proto__ as plain data', async () => {
    const hostile = '{"__proto__":{"x":{"y":1}},"constructor":[1]}';
    equal(await merged('deep', hostile, hostile), hostile);
    equal(await merged('deep', '{}', hostile), hostile);
    equal(await merged('append', '{}', hostile, hostile), '{"__proto__":{"x":{"y":1}},"constructor":[1,1]}');
    equal(({} as { x?: unknown }).x, undefined);
  });

  it('is rejected if its name is unknown', async () => {
    equal((await refusal(openHarness(plugin, 'endpoint', { combiner: 'zip' }))).length, 1);
  });

  it('causes a warning with a single backend', async () => {
    const gate = await openHarness(
      plugin,
      'endpoint',
      { combiner: 'deep' },
      { endpoint: { backend: [backendConfig()] } },
    );
    deepEqual(
      gate.warnings.map(({ pointer, code }) => `${pointer} ${code}`),
      ['/combiner PROXY_IDLE'],
    );
    equal(gate.attached.combine, undefined);
  });
});
