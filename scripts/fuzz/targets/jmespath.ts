import fc from 'fast-check';
import { Reply } from '#contract';
import { plugin } from '../../../plugins/modifier/jmespath.ts';
import { tryComponent } from '../component.ts';
import { damaged, data, programs } from '../grammar.ts';
import { defineTarget } from '../target.ts';

const expressions = programs(
  ['a', 'id', '@', '*', '[]', '[*]', '`1`', '`null`', "'x'", '"__proto__"', '[0]', '[-1]', '[::-1]'],
  [
    '#.#',
    '#[*].#',
    '#[?#]',
    '#|#',
    '#||#',
    '#&&#',
    '!#',
    '(#)',
    '[#, #]',
    '{a: #, b: #}',
    '#==#',
    '#<#',
    'length(#)',
    'sort(#)',
    'sort_by(#, &#)',
    'map(&#, #)',
    'join(#, #)',
    'keys(#)',
    'values(#)',
    'merge(#, #)',
    'to_string(#)',
    'to_number(#)',
    'reverse(#)',
    'max_by(#, &#)',
    'contains(#, #)',
    'type(#)',
    'not_null(#, #)',
    'sum(#)',
    'flatten(#)',
    '#[1:#]',
  ],
);

/** Expressions of modifier/jmespath. */
export const jmespath = defineTarget({
  name: 'jmespath',
  law: 'An expression is refused at its start or evaluated within its limits, and leaves prototypes alone.',
  boundMs: 100,
  rooms: ['plugins/modifier/lib/jmespath/', 'plugins/modifier/jmespath.ts'],
  isGuided: true,
  inputs: fc.record({ expr: damaged(expressions), value: data }),
  async open() {
    return { accept, async close() {} };
  },
});

async function accept({ expr, value }: { expr: string; value: unknown }): Promise<void> {
  const next = () => Reply.data({ value } as never);
  await tryComponent(plugin, 'endpoint', { expr }, 'GET /', { next });
  if (Object.keys(Object.prototype).length > 0) throw new Error('Object.prototype has a property');
}
