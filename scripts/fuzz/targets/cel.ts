import fc from 'fast-check';
import { plugin } from '../../../plugins/validation/cel/index.ts';
import { tryComponent } from '../component.ts';
import { damaged, oddTexts, programs } from '../grammar.ts';
import { defineTarget } from '../target.ts';

const expressions = programs(
  [
    'true',
    '0',
    '1u',
    '-9223372036854775808',
    '1e308',
    '"a"',
    'b"\\xff"',
    'null',
    '[]',
    '{}',
    'req_method',
    'req_headers',
    'req_params',
    'req_querystring',
    'now',
    'JWT',
    'timestamp("2026-01-01T00:00:00Z")',
    'duration("1h")',
    '[1, 2, 3]',
  ],
  [
    '#&&#',
    '#||#',
    '!#',
    '#==#',
    '#<#',
    '#+#',
    '#-#',
    '#/#',
    '#%#',
    '#[#]',
    '#.size()',
    'size(#)',
    '#.a',
    'has(#.a)',
    '# ? # : #',
    '#.matches(#)',
    '#.startsWith(#)',
    '[#, #]',
    '{#: #}',
    'string(#)',
    'int(#)',
    'double(#)',
    'timestamp(#)',
    'duration(#)',
    '#.exists(x, #)',
    '#.all(x, #)',
    '#.map(x, #)',
    '#.filter(x, #)',
    '# in #',
    'type(#)',
    '#.getFullYear()',
  ],
);

/** Expressions of validation/cel. */
export const cel = defineTarget({
  name: 'cel',
  law: 'An expression is refused at its start or evaluated within its limits.',
  boundMs: 200,
  rooms: ['plugins/engines/cel/', 'plugins/validation/cel/'],
  isGuided: true,
  inputs: fc.record({
    expression: damaged(expressions),
    header: oddTexts.map((text) => text.replace(/[^\x20-\x7e]/g, '')),
  }),
  async open() {
    return { accept, async close() {} };
  },
});

function accept({ expression, header }: { expression: string; header: string }): Promise<void> {
  const request = { method: 'GET', target: '/a?b=c&b=d', headers: { 'x-a': header } };
  return tryComponent(plugin, 'endpoint', [{ check_expr: expression }], request);
}
