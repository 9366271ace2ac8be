import { deepEqual, equal, rejects } from 'node:assert/strict';
import { type Data, type DataObject, type Level, parseExact, printJson, Reply } from '#contract';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { plugin } from '../../../plugins/modifier/response-body/index.ts';
import { startBackend, startGateway } from '../../support/gateway.ts';
import { openHarness } from '../../support/harness.ts';

/** Data after the modifiers. */
async function changed(modifiers: readonly object[], json: string): Promise<string> {
  const next = () => Reply.data(parseExact(json) as DataObject);
  const harness = await openHarness(plugin, 'endpoint', { modifiers }, { next });
  const { data } = await harness.send('GET /');
  await harness.close();
  return printJson(data as Data);
}

/** Errors of a configuration. */
async function faultsOf(config: object, level: Level = 'endpoint'): Promise<unknown> {
  let faults: unknown;
  await rejects(openHarness(plugin, level, config), (error: unknown) => {
    if (!(error instanceof ConfigErrors)) throw error;
    faults = error.errors.map(({ code, pointer }) => [code, pointer]);
    return true;
  });
  return faults;
}

const regexp = (field: string, find: string, replace: string) => ({ regexp: { field, find, replace } });
const literal = (field: string, find: string, replace: string) => ({ literal: { field, find, replace } });
const trim = (field: string, find: string) => ({ trim: { field, find } });
const lower = (field: string) => ({ lower: { field } });
const upper = (field: string) => ({ upper: { field } });

describe('modifier/response-body', () => {
  for (const [title, modifier, data, code] of [
    ['one string', literal('a', 'a', 'b'.repeat(100)), { a: 'a'.repeat(2 ** 20) }, 'PATTERN_LIMIT'],
    [
      'one string changed by an expression',
      regexp('a', 'a', 'b'.repeat(100)),
      { a: 'a'.repeat(2 ** 20) },
      'PATTERN_LIMIT',
    ],
    [
      'the strings of a path in total',
      literal('a.*', 'a', 'b'.repeat(1001)),
      { a: new Array(100).fill('a'.repeat(1000)) },
      'TEXT_LIMIT',
    ],
  ] as const) {
    it(`fails if ${title} would become too long`, async () => {
      const next = () => Reply.data(structuredClone(data) as DataObject);
      const harness = await openHarness(plugin, 'endpoint', { modifiers: [modifier] }, { next });
      for (const _ of [1, 2]) equal((await harness.send('GET /')).errors[0]?.code, code);
      await harness.close();
    });
  }

  it('applies its limit to each response separately', async () => {
    const next = () => Reply.data({ a: new Array(60).fill('a'.repeat(1000)) });
    const modifiers = [literal('a.*', 'a', 'b'.repeat(1001))];
    const harness = await openHarness(plugin, 'endpoint', { modifiers }, { next });
    for (const _ of [1, 2]) equal((await harness.send('GET /')).failed, false);
    await harness.close();
  });

  for (const [title, modifiers, before, after] of [
    [
      'replaces matches of a regular expression, with groups',
      [regexp('card.number', '^.*(\\d{4})', 'XXXX-$' + '{1}')],
      '{"card":{"number":"1111222233334444"}}',
      '{"card":{"number":"XXXX-4444"}}',
    ],
    ['removes a string', [literal('msg', ' items left', '')], '{"msg":"6 items left"}', '{"msg":"6"}'],
    ['trims characters from both ends', [trim('s', 'xy')], '{"s":"yxabcxy"}', '{"s":"abc"}'],
    [
      'applies later modifiers to the result of earlier ones',
      [upper('n'), literal('n', 'ANN', 'Bob')],
      '{"n":"ann"}',
      '{"n":"Bob"}',
    ],
    [
      'changes all items of a list with *',
      [upper('list.*.u')],
      '{"list":[{"u":"a"},{"u":"b"}]}',
      '{"list":[{"u":"A"},{"u":"B"}]}',
    ],
    [
      'changes an item by its index',
      [upper('list.1.u'), upper('list.2.u'), upper('list.x.u'), upper('list.-1.u')],
      '{"list":[{"u":"a"},{"u":"b"}]}',
      '{"list":[{"u":"a"},{"u":"B"}]}',
    ],
    ['changes all values of an object with *', [upper('obj.*')], '{"obj":{"a":"x","b":3}}', '{"obj":{"a":"X","b":3}}'],
    ['ignores values that are not strings', [lower('age')], '{"age":3}', '{"age":3}'],
    [
      'ignores missing paths, numbers, booleans, null, objects and lists',
      ['none', 'a.b.c', 'n', 'b', 'z', 'o', 'l', 's.x', 'big'].map(upper),
      '{"n":1.5,"b":true,"z":null,"o":{"k":"v"},"l":["v"],"s":"v","big":12345678901234567890}',
      '{"n":1.5,"b":true,"z":null,"o":{"k":"v"},"l":["v"],"s":"v","big":12345678901234567890}',
    ],
    [
      'runs the modifiers of one item in the order regexp, literal, trim, lower, upper',
      [{ ...upper('s'), ...lower('s'), ...trim('s', 'x'), ...literal('s', 'b', 'xB'), ...regexp('s', 'a', 'b') }],
      '{"s":"ac"}',
      '{"s":"BC"}',
    ],
    [
      'replaces every occurrence of a literal string, case-sensitively, without expanding groups',
      [literal('s', 'a', '$&')],
      '{"s":"aAa"}',
      '{"s":"$&A$&"}',
    ],
    [
      'uses the longest possible group name',
      [regexp('s', '(a)(?P<x>b)', '$1x|$' + '{1}x|$' + '{x}|$$|$9')],
      '{"s":"ab"}',
      '{"s":"|ax|b|$|"}',
    ],
    [
      'changes the case of any letter',
      [upper('a'), lower('b')],
      '{"a":"größe ñ","b":"ÀÉ"}',
      '{"a":"GRÖSSE Ñ","b":"àé"}',
    ],
    ['trims characters beyond U+FFFF', [trim('s', '😀')], '{"s":"😀a😀b😀"}', '{"s":"a😀b"}'],
    ['changes nested lists', [upper('l.*.*')], '{"l":[["a"],["b",["c"]]]}', '{"l":[["A"],["B",["c"]]]}'],
    ['uses a number as a key of an object', [upper('o.1')], '{"o":{"1":"a"}}', '{"o":{"1":"A"}}'],
    [
      'treats __proto__ like any other key',
      [upper('__proto__.a'), upper('constructor.name')],
      '{"__proto__":{"a":"x"}}',
      '{"__proto__":{"a":"X"}}',
    ],
  ] as const) {
    it(title, async () => {
      equal(await changed(modifiers, before), after);
      equal(({} as { a?: unknown }).a, undefined);
    });
  }

  it("changes merged data at an endpoint, and a backend's data after its response manipulation", async () => {
    const backend = await startBackend((_seen, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"n":"a"}');
    });
    const modified = (...modifiers: object[]) => ({ extra_config: { 'modifier/response-body': { modifiers } } });
    const gateway = await startGateway({
      host: [backend.url],
      endpoints: [
        {
          endpoint: '/a',
          ...modified(literal('x.n', 'A', 'merged')),
          backend: [
            { url_pattern: '/', group: 'x', ...modified(upper('x.n'), upper('n')) },
            { url_pattern: '/', group: 'y' },
          ],
        },
      ],
    });
    deepEqual(JSON.parse((await gateway.inject('/a')).body), { x: { n: 'merged' }, y: { n: 'a' } });
    await gateway.close();
    await backend.close();
  });

  it('has no effect with the no-op encoding, and causes a warning', async () => {
    for (const [level, around] of [
      ['endpoint', { endpoint: { output_encoding: 'no-op' } }],
      ['endpoint', { endpoint: { output_encoding: 'streaming' } }],
      ['backend', { backend: { encoding: 'no-op' } }],
    ] as const) {
      const harness = await openHarness(plugin, level, { modifiers: [upper('a')] }, around);
      deepEqual(
        harness.warnings.map(({ code }) => code),
        ['RESPONSE_BODY_RAW'],
      );
      equal(harness.attached.proxy ?? harness.attached.backend, undefined);
      await harness.close();
    }
  });

  it('does nothing without modifiers', async () => {
    for (const config of [{}, { modifiers: [] }]) {
      const harness = await openHarness(plugin, 'endpoint', config);
      deepEqual([harness.warnings, harness.attached], [[], {}]);
      await harness.close();
    }
  });

  it('ignores comment keys', async () => {
    const comment = { '@comment': 'why' };
    const modifiers = [{ ...comment, trim: { ...comment, field: 's', find: ' ' } }];
    equal(await changed(modifiers, '{"s":" a"}'), '{"s":"a"}');
  });

  it('fails a response with a string too long for its expression, because the expression might redact it', async () => {
    const next = () => Reply.data({ a: 'x'.repeat(20_000_000) });
    const harness = await openHarness(plugin, 'endpoint', { modifiers: [regexp('a', 'x', 'y')] }, { next });
    const { data, errors } = await harness.send('GET /');
    deepEqual([data, errors.map(({ code }) => code)], [null, ['PATTERN_LIMIT']]);
    await harness.close();
  });

  it('rejects invalid expressions, missing fields and unknown modifiers', async () => {
    deepEqual(await faultsOf({ modifiers: [trim('a', ' '), regexp('a', '(', '')] }), [
      ['PATTERN_INVALID', '/modifiers/1/regexp/find'],
    ]);
    deepEqual(await faultsOf({ modifiers: [regexp('a', 'a(?=b)', '')] }), [
      ['PATTERN_INVALID', '/modifiers/0/regexp/find'],
    ]);
    for (const modifier of [
      { regexp: { field: 'a', find: 'b' } },
      { literal: { field: 'a', replace: 'b' } },
      { trim: { field: 'a' } },
      { lower: {} },
      { upper: [{ field: 'a' }] },
      { title: { field: 'a' } },
      {},
    ]) {
      await rejects(openHarness(plugin, 'endpoint', { modifiers: [modifier] }), ConfigErrors);
      await rejects(openHarness(plugin, 'backend', { modifiers: [modifier] }), ConfigErrors);
    }
  });
});
