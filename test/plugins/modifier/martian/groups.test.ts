import { deepEqual, equal, match } from 'node:assert/strict';
import { Call, Reply } from '#contract';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/modifier/martian/index.ts';
import { pipeRequest } from '../../backend/http-client.ts';
import { issuesOf, through, warningsOf } from './testbed.ts';

const set = (value: string, scope = ['request']) => ({ 'header.Modifier': { name: 'X-A', value, scope } });
const append = (value: string) => ({ 'header.Append': { name: 'X-A', value } });
const failing = (value: string) => ({ 'header.Modifier': { name: 'Content-Length', value } });

describe('the groups of modifier/martian', () => {
  it('run the modifiers of a FIFO group in order for requests and responses', async () => {
    const { headers, replied } = await through({ 'fifo.Group': { modifiers: [append('1'), append('2')] } });
    deepEqual(
      [headers, replied],
      [
        ['X-A', '1', 'X-A', '2'],
        ['X-A', '1', 'X-A', '2'],
      ],
    );
  });

  it('run the modifiers of a priority group from the highest priority down', async () => {
    const modifiers = [
      { priority: 0, modifier: set('1') },
      { priority: 10, modifier: set('2') },
    ];
    deepEqual((await through({ 'priority.Group': { modifiers } })).headers, ['X-A', '1']);
  });

  it('run the later one of two modifiers with equal priorities first', async () => {
    const modifiers = [
      { priority: 5, modifier: append('first') },
      { priority: 5, modifier: append('second') },
      { priority: 9, modifier: append('highest') },
    ];
    const { headers } = await through({ 'priority.Group': { modifiers } });
    deepEqual(headers, ['X-A', 'highest', 'X-A', 'second', 'X-A', 'first']);
  });

  it('run only for the requests or responses in their scopes', async () => {
    const { headers, replied } = await through({ 'fifo.Group': { modifiers: [append('1')], scope: ['response'] } });
    deepEqual([headers, replied], [[], ['X-A', '1']]);
  });

  it('stop at the first failed modifier, and the call fails without reaching the backend', async () => {
    const gate = await openHarness(plugin, 'backend', { 'fifo.Group': { modifiers: [failing('1'), set('2')] } });
    let calls = 0;
    const request = pipeRequest({ origin: 'http://h1' });
    const send = gate.attached.transport!(() => {
      calls++;
      return new Reply(200);
    });
    const reply = await send(request, new Call());
    deepEqual([reply.status, reply.failed, calls, request.headers.list], [500, true, 0, []]);
  });

  it('run all modifiers with aggregateErrors, and report all errors', async () => {
    const modifiers = [failing('1'), set('2'), failing('3')];
    const { reply, headers } = await through({ 'fifo.Group': { modifiers, aggregateErrors: true } });
    deepEqual(headers, ['X-A', '2']);
    equal(
      reply.errors[0]!.message,
      'modifier/martian: Content-Length 1 does not match the body of 0 bytes\nContent-Length 3 does not match the body of 0 bytes',
    );
  });

  it('fail a call if a response cannot be modified', async () => {
    const modifiers = [{ 'header.Modifier': { name: 'Content-Length', value: '9', scope: ['response'] } }];
    const { reply } = await through({ 'fifo.Group': { modifiers } });
    deepEqual([reply.status, reply.failed], [500, true]);
  });

  it('fail a call if a header is too long for a regular expression', async () => {
    const filter = { header: 'X', regex: '(a|b)*a(a|b){18}$', modifier: set('1'), scope: ['request'] };
    const { reply } = await through({ 'header.RegexFilter': filter }, { headers: ['X', 'ab'.repeat(500_000)] });
    deepEqual([reply.status, reply.errors[0]!.code], [500, 'PATTERN_LIMIT']);
  });

  it('can be nested in filters and groups', async () => {
    const inner = { 'fifo.Group': { modifiers: [append('1'), append('2')], scope: ['request'] } };
    const filter = { 'header.Filter': { name: 'X-V', modifier: inner, scope: ['request'] } };
    const group = { 'priority.Group': { modifiers: [{ priority: 1, modifier: filter }] } };
    deepEqual((await through(group, { headers: ['X-V', '1'] })).headers, ['X-V', '1', 'X-A', '1', 'X-A', '2']);
  });

  it('can have comment keys at every level', async () => {
    const config = { '@why': 'legacy', 'header.Modifier': { '@comment': 'x', name: 'X-A', value: '1' } };
    deepEqual((await through(config)).headers, ['X-A', '1']);
  });

  it('reserve the names of the request headers they set, so that clients cannot send them', async () => {
    const modifiers = [
      set('1'),
      { 'header.Id': {} },
      { 'header.Modifier': { name: 'X-B', value: '', scope: ['response'] } },
    ];
    const gate = await openHarness(plugin, 'backend', { 'fifo.Group': { modifiers } });
    deepEqual(gate.attached.sets, ['X-A', 'X-Krakend-Id']);
  });

  it('cause a warning and no overhead if no modifier has a valid scope', async () => {
    const filter = { 'header.Filter': { name: 'X', modifier: set('1', ['response']), scope: ['request'] } };
    deepEqual(await warningsOf(filter), ['/ no modifier applies to requests or responses: check their scopes']);
    deepEqual((await openHarness(plugin, 'backend', filter)).attached, {});
  });

  for (const [what, config, issue] of [
    ['an empty configuration', {}, /^\/ the modifier is missing/],
    ['an unknown type', { 'header.Foo': {} }, /^\/header\.Foo unknown key 'header\.Foo'/],
    [
      'two keys',
      { ...set('1'), 'header.Id': {} },
      /^\/ only one modifier is allowed, found header\.Modifier and header\.Id/,
    ],
    [
      'two keys in a nested modifier',
      { 'fifo.Group': { modifiers: [{ 'header.Id': {}, ...set('1') }] } },
      /^\/fifo\.Group\/modifiers\/0 only one modifier is allowed/,
    ],
    [
      'an unknown type in a nested modifier',
      { 'priority.Group': { modifiers: [{ priority: 1, modifier: { 'body.Modifer': { body: '' } } }] } },
      /^\/priority\.Group\/modifiers\/0\/modifier\/body\.Modifer unknown key/,
    ],
    ['an unknown scope', set('1', ['both']), /\/scope\/0 'scope\[0\]' must be one of request, response/],
    ['a filter without a modifier', { 'cookie.Filter': { name: 'a' } }, /'modifier' is missing in 'cookie\.Filter'/],
  ] as const) {
    it(`are rejected if they have ${what}`, async () => {
      const issues = await issuesOf(config);
      equal(issues.length, 1);
      match(issues[0]!, issue);
    });
  }

  it('can be nested forty levels deep', async () => {
    let nested: object = set('1');
    for (let depth = 0; depth < 40; depth++) nested = { 'fifo.Group': { modifiers: [nested] } };
    deepEqual((await through(nested)).headers, ['X-A', '1']);
  });
});
