import { equal, notEqual, ok, throws } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { type Pattern, PatternLimit } from '#contract';
import { PatternError } from '../../../kernel/contract/internal.ts';
import { createPatterns } from '../../../kernel/patterns/patterns.ts';

describe('regular expressions in RE2 syntax', () => {
  const { compile } = createPatterns();

  const rows: [pattern: string, matching: string, other: string][] = [
    ['b', 'abc', 'ac'],
    ['^.$', '😀', '😀😀'],
    ['(?i)^abc$', 'ABC', 'ABD'],
    ['(?is)^a.c$', 'A\nC', 'AC'],
    ['a(?i:b)c', 'aBc', 'ABc'],
    ['(?m)^b$', 'a\nb', 'ab'],
    ['^b$', 'b', 'b\n'],
    ['^(?P<year>\\d{4})$', '2024', '24'],
    ['^(?<year>\\d{4})$', '2024', '24'],
    ['^(?P<constructor>a)(?P<__proto__>b)$', 'ab', 'a'],
    ['\\Aab\\z', 'ab', 'abc'],
    ['^[[:alpha:]_]+$', 'a_b', 'a1'],
    ['^[^[:space:]]+$', 'ab', 'a b'],
    ['^\\pL+$', 'é', '1'],
    ['^\\PL+$', '1', 'é'],
    ['^\\p{Lu}$', 'A', 'a'],
    ['^\\p{Greek}$', 'α', 'a'],
    ['^\\d$', '1', '١'],
    ['^\\w$', 'a', 'é'],
    ['^[\\w.\\-]+\\@[\\w\\-\\.]+$', 'a-b@c.d', 'a b@c'],
    ['^\\Qa.b\\E$', 'a.b', 'axb'],
    ['^{a}$', '{a}', 'a'],
    ['^a{2,3}$', 'aaa', 'a'],
    ['^a]$', 'a]', 'a'],
    ['^[]a]+$', ']a', 'b'],
    ['^[a[]$', '[', 'b'],
    ['^\\/\\_\\-\\"$', '/_-"', 'x'],
    ['^\\x{e9}\\x41$', 'éA', 'eA'],
    ['\\bcat\\b', 'a cat.', 'concat'],
  ];
  for (const [pattern, matching, other] of rows) {
    it(`support ${pattern}`, () => {
      equal(compile(pattern).test(matching), true);
      equal(compile(pattern).test(other), false);
    });
  }

  it('search in a text, or match the whole text', () => {
    const either = compile('a|ab');
    equal(either.test('xaby'), true);
    equal(either.testWhole('ab'), true);
    equal(either.testWhole('abx'), false);
    equal(compile('(?m)^a$').testWhole('a\na'), false);
  });

  it('take time in proportion to the text, for any pattern', () => {
    const text = `${'a'.repeat(100_000)}!`;
    for (const pattern of ['^(\\w+\\s?)*$', '^(a+)+$', '^(a|a)*$', '(x+x+)+y', '^(a?){30}a{30}$']) {
      equal(compile(pattern).test(text), false, pattern);
    }
  });

  it('reject a text that would take too long to match, with an error', () => {
    const heavy = compile('(a|b)*a(a|b){500}$');
    throws(() => heavy.test('ab'.repeat(10_000)), PatternLimit);
    throws(() => heavy.testWhole('ab'.repeat(10_000)), PatternLimit);
    throws(() => heavy.test('ab'.repeat(10_000)), { code: 'PATTERN_LIMIT' });
    equal(heavy.test('a'.repeat(2000)), true);
    equal(compile('^[A-Za-z0-9+/]*={0,2}$').test('Ab3/'.repeat(250_000)), true);
  });

  it('accept any text of a thousand characters', () => {
    const largest = compile(`${'a{1000}'.repeat(16)}`);
    equal(largest.test('a'.repeat(1000)), false);
  });

  it('are rejected if they are too large', () => {
    for (const [pattern, message] of [
      ['a'.repeat(16_385), 'has 16385 characters: at most 16384 are supported'],
      ['a{1000}'.repeat(17), 'compiles to 17002 instructions: at most 16384 are supported'],
      [`${'('.repeat(1100)}a${')'.repeat(1100)}`, 'expression nests too deeply'],
    ] as const) {
      throws(() => compile(pattern), { message });
    }
  });

  describe('that several callers use', () => {
    it('are compiled once', () => {
      const first: Pattern = compile('^written-again$');
      equal(compile('^written-again$'), first);
      notEqual(compile('^written-once$'), first);
    });

    it('are cached while they are used, up to a limit', () => {
      const patterns = createPatterns();
      const [used, idle] = [patterns.compile('^used$'), patterns.compile('^idle$')];
      for (let number = 0; number < 499; number += 1) {
        patterns.compile(`^${number}$`);
        patterns.compile('^used$');
      }
      equal(patterns.compile('^used$'), used);
      notEqual(patterns.compile('^idle$'), idle);
    });

    it('have different cache keys if the expressions differ', () => {
      notEqual(String(compile('^a$')), String(compile('^b$')));
    });
  });

  it('load the RE2 library at first use', () => {
    const script = `
      const { createPatterns } = await import('./kernel/patterns/patterns.ts');
      const { createRequire } = await import('node:module');
      const loaded = () => Object.keys(createRequire(import.meta.url).cache).some((name) => name.includes('re2js'));
      const { compile } = createPatterns();
      const before = loaded();
      compile('a');
      console.log(before, loaded());`;
    equal(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }), 'false true\n');
  });

  describe('that are invalid', () => {
    const issues: [pattern: string, message: string, part: string, hint?: RegExp][] = [
      ['a(b', "the '(' is never closed", '('],
      ['(?i)(?:a)(', "the '(' is never closed", '('],
      ['\\(\\)(', "the '(' is never closed", '('],
      ['[(](a|[)]', "the '(' is never closed", '('],
      ['x(a)b)c', "unmatched ')'", ')'],
      ['x[a-z', "the '[' is never closed", '['],
      ['[^]', "the '[' is never closed", '['],
      ['*a', "nothing precedes '*' that could be repeated", '*'],
      ['[+]a|+', "nothing precedes '+' that could be repeated", '+'],
      ['[**]a**', "'**' repeats another repetition", '**'],
      ['a++', "'++' repeats another repetition", '++'],
      ['[z-a]', 'the range z-a is out of order', 'z-a'],
      ['a{5,2}', 'the numbers of {5,2} are out of order', '{5,2}'],
      ['a{1001}', '{1001} repeats too often', '{1001}', /1000 at most/],
      ['(a{500}){3}', '{3} repeats too often', '{3}', /1000 at most/],
      ['a\\', 'ends in a lone backslash', '\\'],
      ['\\\\y\\y', '\\y is not an escape sequence', '\\y'],
      ['[[:nope:]]', '[:nope:] is not a class', '[:nope:]', /\[:alpha:\]/],
      ['\\p{Nope}', '\\p{Nope} is not a valid character class', '\\p{Nope}', /\\p\{Lu\}/],
      ['(?<n>a)(?P<n>b)', "two groups have the name 'n'", '<n>'],
      ['(?P<a b>c)', '(?P<a b> is not a group', '(?P<a b>'],
    ];
    for (const [pattern, message, segment, hint = /^$/] of issues) {
      it(`are rejected with an explanation: ${pattern}`, () => reported(pattern, message, segment, hint));
    }

    const dialects: typeof issues = [
      ['^(?=a)b', 'lookahead (?= is not supported', '(?=', /RE2.*two patterns/],
      ['^(?!a)b', 'lookahead (?! is not supported', '(?!', /RE2.*two patterns/],
      ['(?<=a)b', 'lookbehind (?<= is not supported', '(?<=', /RE2.*two patterns/],
      ['(?<!a)b', 'lookbehind (?<! is not supported', '(?<!', /RE2.*two patterns/],
      ['(a)\\\\1\\1', 'backreference \\1 is not supported', '\\1', /RE2.*two patterns/],
      ['(?<a>b)\\k<a>', 'backreference \\k is not supported', '\\k', /RE2.*two patterns/],
      ['(?>a)', 'atomic group (?> is not supported', '(?>', /^\(\?: \)$/],
      ['a(?#why)', 'comment (?# is not supported', '(?#', /leave/],
      ['(?x)a', 'flag (?x is not supported', '(?x', /i, m, s and U/],
      ['caf\\u00e9', 'escape \\u is not supported', '\\u', /\\x\{00e9\}/],
      ['a\\Z', 'escape \\Z is not supported', '\\Z', /^\\z$/],
      ['\\ba[\\b]', 'escape \\b is not supported', '\\b', /\\x08/],
    ];
    for (const [pattern, message, segment, hint] of dialects) {
      it(`are recognized as the syntax of another regular expression dialect: ${pattern}`, () =>
        reported(pattern, message, segment, hint!));
    }

    function reported(pattern: string, message: string, segment: string, hint: RegExp): void {
      throws(
        () => compile(pattern),
        (error) => {
          ok(error instanceof PatternError);
          equal(error.message, message);
          const { start, end } = error.within!;
          equal(pattern.slice(start, end), segment);
          ok(hint.test(error.hint ?? ''), error.hint);
          return true;
        },
      );
    }

    it('are marked at the error, not at a valid occurrence of the same text', () => {
      throws(() => compile('[**]\\**a**'), { within: { start: 8, end: 10 } });
      throws(() => compile('(a)(b(c)(d)'), { within: { start: 3, end: 4 } });
    });

    it('have no position if finding it would take too long', () => {
      throws(() => compile(`(${'(a)'.repeat(5000)}`), { message: "the '(' is never closed", within: undefined });
    });
  });
});
