import { plugin } from '../../../plugins/modifier/lua-endpoint.ts';
import { tryComponent } from '../component.ts';
import { damaged, programs } from '../grammar.ts';
import { defineTarget } from '../target.ts';

const expressions = programs(
  [
    'nil',
    'true',
    '0',
    '1',
    '-1',
    '2^53',
    '1/0',
    '""',
    '"a"',
    'x',
    '{}',
    't',
    'string.rep("ab", 40000)',
    'ctx.load()',
    'function() end',
    '"%d+"',
    '"(a*)*b"',
    'math.huge',
    '("x"):rep(1e5)',
    'string',
  ],
  [
    '#..#',
    '#+#',
    '#==#',
    '#<#',
    'not #',
    '##',
    '#[#]',
    '#()',
    '{#, #}',
    'tostring(#)',
    'tonumber(#, #)',
    'string.rep(#, #)',
    'string.find(#, #)',
    'string.gsub(#, #, #)',
    'string.format(#, #)',
    'table.concat(#, #)',
    'table.sort(#, #)',
    'unpack(#)',
    'select(#, #)',
    'pcall(#)',
    'setmetatable(#, #)',
    'loadstring(#)',
    'json_parse(#)',
    'ctx.load():headers(#, #)',
    'ctx.load():query(#, #)',
    'ctx.load():body(#)',
    'ctx.load():params(#)',
    'custom_error(#, #)',
    'coroutine.wrap(#)',
    'function() return # end',
    'os.time(#)',
    'os.date(#)',
    'string.byte(#, #, #)',
    'math.max(#, #)',
    'next(#, #)',
  ],
  4,
);
const scripts = programs(
  ['x = 1', 't = {}', 'return', 'error("no")'],
  [
    '#; #',
    'while # do break end',
    'repeat # until true',
    'for i = 1, 1e9 do # end',
    'if x then # end',
    'local f = function() # end; pcall(f)',
  ],
  3,
);

/** Scripts of lua components. */
export const lua = defineTarget({
  name: 'lua',
  law: 'A script is refused at its start or ends within its limits, with a reply or an error of the call.',
  boundMs: 400,
  rooms: ['plugins/engines/lua/'],
  isGuided: true,
  inputs: damaged(programsOf()),
  async open() {
    return { accept, async close() {} };
  },
});

function programsOf() {
  return scripts.chain((script) =>
    expressions.map((expression) => `local x, t = 1, {1, 2}\n${script}\nx = ${expression}\n`),
  );
}

function accept(pre: string): Promise<void> {
  return tryComponent(
    plugin,
    'endpoint',
    { pre, allow_open_libs: true },
    {
      method: 'POST',
      target: '/a?b=c',
      headers: { 'x-a': 'b', 'content-type': 'application/json' },
      body: '{"a":[1,2,{"b":null}]}',
    },
  );
}
