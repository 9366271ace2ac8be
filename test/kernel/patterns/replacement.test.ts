// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of replacements are written so.
import { equal, throws } from 'node:assert/strict';
import { PatternLimit } from '#contract';
import { createPatterns } from '../../../kernel/patterns/patterns.ts';

/** Results of Go's `regexp.ReplaceAllString`. */
const rows: [pattern: string, text: string, template: string, result: string][] = [
  ['(a)(b)?', 'acab', '[$1|$2|$0]', '[a||a]c[a|b|ab]'],
  ['(?P<x>a)n', 'banana', '<$x>', 'b<a><a>a'],
  ['(?P<x>a)n', 'banana', '<${x}n>', 'b<an><an>a'],
  ['(a)', 'banana', '$1x', 'bnn'],
  ['(a)', 'banana', '${1}x', 'baxnaxnax'],
  ['a', 'banana', '$', 'b$n$n$'],
  ['a', 'banana', '$$', 'b$n$n$'],
  ['a', 'banana', '$$1', 'b$1n$1n$1'],
  ['(a)', 'banana', '$-', 'b$-n$-n$-'],
  ['(a)', 'banana', '${1', 'b${1n${1n${1'],
  ['(a)', 'banana', '${}', 'b${}n${}n${}'],
  ['(a)', 'banana', '${1 }', 'b${1 }n${1 }n${1 }'],
  ['(a)', 'banana', '$01', 'bnn'],
  ['(a)', 'banana', '$001', 'bnn'],
  ['(a)', 'banana', '$9', 'bnn'],
  ['(a)', 'banana', '$10', 'bnn'],
  ['a*', 'baaac', '-', '-b-c-'],
  ['x*', 'abc', '-', '-a-b-c-'],
  ['', 'ab', '-', '-a-b-'],
  ['$', 'ab', '-', 'ab-'],
  ['^', 'ab', '-', '-ab'],
  ['b*', 'é😀b', '-', '-é-😀-'],
  ['(^\\d{4})(.*)', '1234567812345678', '${1}-XXXX', '1234-XXXX'],
  ['^.*(\\d{4})', '1111222233334444', 'XXXX-${1}', 'XXXX-4444'],
  ['/p/([a-z]{3})', '/p/abcdef', '/git/${1}', '/git/abcdef'],
  ['(?P<x>a)', 'a', '$xé', ''],
  ['(?P<x>a)', 'a', '$x_', ''],
  ['(?P<__proto__>a)', 'ba', '$__proto__', 'ba'],
  ['(a)', 'ba', '$constructor', 'b'],
  ['(?m)^', 'a\nb', '> ', '> a\n> b'],
  ['\\b', 'ab cd', '|', '|ab| |cd|'],
  ['(?:)', '😀', '-', '-😀-'],
  ['(a|ab)(c|bcd)(d*)', 'abcd', '$1,$2,$3', 'a,bcd,'],
  ['(?U)a+', 'aaa', '-', '---'],
  ['(?i)A', 'aA', 'x', 'xx'],
  ['(?P<1>a)(b)', 'ab', '$1', 'a'],
  ['(?P<2>a)(b)', 'ab', '$2', 'b'],
  ['a', 'b', '-', 'b'],
  ['(a)', 'banana', '$1$1', 'baanaanaa'],
  ['(a)', 'banana', '$a$1', 'banana'],
  ['(?P<n>a)|(?P<m>b)', 'ab', '[$n$m]', '[a][b]'],
];

describe('replacing with a regular expression', () => {
  const { compile } = createPatterns();

  for (const [pattern, text, template, result] of rows) {
    it(`${pattern || 'nothing'} in ${JSON.stringify(text)} by ${template} returns ${JSON.stringify(result)}`, () => {
      equal(compile(pattern).replacer(template)(text), result);
    });
  }

  it('returns a text without a match unchanged', () => {
    const text = 'nothing to see';
    equal(compile('\\d+').replacer('#')(text), text);
  });

  it('is aborted if every match reads the whole rest of the text', () => {
    throws(() => compile('a(.*b)?').replacer('-')('a'.repeat(50_000)), PatternLimit);
  });

  it('fails for a text that is too long', () => {
    throws(() => compile('(a|b)*a(a|b){500}$').replacer('-')('ab'.repeat(10_000)), PatternLimit);
  });
});
