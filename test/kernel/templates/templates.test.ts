import { deepEqual, equal, match, throws } from 'node:assert/strict';
import { TemplateError } from '../../../kernel/contract/internal.ts';
import { fn } from '../../../kernel/templates/function.ts';
import { compileTemplate, type Mark, type TemplateOptions } from '../../../kernel/templates/index.ts';

function render(text: string, data: unknown = {}, options: TemplateOptions = {}): string {
  return compileTemplate(text, options).render(data);
}

function errorOf(text: string, data: unknown = {}, options: TemplateOptions = {}): TemplateError {
  try {
    render(text, data, options);
  } catch (error) {
    if (error instanceof TemplateError) return error;
    throw error;
  }
  throw new Error('it was carried out');
}

describe('a template', () => {
  it('prints numbers as in the document, with all digits', () => {
    const data = JSON.parse('{"n":1000000,"f":1.5}');
    data.long = JSON.rawJSON('12345678901234567890.5');
    equal(
      render('{{.n}} {{.f}} {{.long}} {{toJson .}}', data),
      `1000000 1.5 12345678901234567890.5 {"f":1.5,"long":12345678901234567890.5,"n":1000000}`,
    );
    equal(render('{{.n}}', data, { numbers: 'go' }), '1e+06');
  });

  it('computes with integers beyond 2^53', () => {
    equal(render('{{add .id 1}}', { id: JSON.rawJSON('9007199254740993') }), '9007199254740994');
  });

  it('calls other templates by name', () => {
    const templates = { 'item.tmpl': '<{{.}}>', 'list.tmpl': '{{range .}}{{template "item.tmpl" .}}{{end}}' };
    equal(render('{{template "list.tmpl" .l}}', { l: [1, 2] }, { templates }), '<1><2>');
  });

  it('can call additional functions that the caller provides', () => {
    equal(render('{{twice "a"}}', {}, { functions: { twice: fn('string', (text) => text + text) } }), 'aa');
  });

  it('handles a missing key as its options say', () => {
    equal(render('{{.a}} {{.a.b}}'), '<no value> <no value>');
    equal(render('{{.a}}', {}, { missingKey: 'zero' }), '<no value>');
    match(
      errorOf('{{.a.b}}', {}, { missingKey: 'zero' }).message,
      /cannot read the field "b" of "a", which has no value/,
    );
    match(errorOf('{{.a}}', {}, { missingKey: 'error' }).message, /^template:1:3: unknown field "a"$/);
  });

  it('starts from the same state for each rendering', () => {
    const template = compileTemplate('{{$x := 1}}{{if .a}}{{$x = 2}}{{end}}{{$x}}');
    deepEqual(
      [{ a: 1 }, {}, { a: 1 }].map((data) => template.render(data)),
      ['2', '1', '2'],
    );
  });

  it('records the source of each part of its output', () => {
    const marks: Mark[] = [];
    const templates = { t: 'x{{.}}' };
    const output = compileTemplate('ab{{.n}}c{{template "t" .n}}', { name: 'main', templates }).render(
      { n: 12 },
      marks,
    );
    equal(output, 'ab12cx12');
    deepEqual(
      marks.map(({ output: at, at: from, isText, source, read }) => [at, from, isText, source.name, read?.key]),
      [
        [0, 0, true, 'main', undefined],
        [2, 4, false, 'main', 'n'],
        [4, 8, true, 'main', undefined],
        [5, 0, true, 't', undefined],
        [6, 3, false, 't', undefined],
      ],
    );
  });

  it('records the field that an action has read', () => {
    const marks: Mark[] = [];
    compileTemplate('{{.a.b}}{{toJson .a}}{{cat .a.b .a.b}}{{1}}').render({ a: { b: 1 } }, marks);
    deepEqual(
      marks.map(({ read }) => read && [read.holder, read.key]),
      [[{ b: 1 }, 'b'], [{ a: { b: 1 } }, 'a'], null, null],
    );
  });
});

describe('an error in a template', () => {
  const places: readonly (readonly [template: string, message: string])[] = [
    ['a\n  {{ foo }}', 'template:2:6: unknown function foo'],
    ['{{ if .x }}', 'template:1:1: {{if}} has no {{end}}'],
    ['\n\n{{ end }}', 'template:3:1: {{end}} without a matching start'],
    ['{{ upper }}', 'template:1:4: upper takes 1 argument, found 0'],
    ['{{ upper "a" "b" }}', 'template:1:4: upper takes 1 argument, found 2'],
    ['{{ eq 1 }}', 'template:1:4: eq takes at least 2 arguments, found 1'],
    ['{{ "a }}', 'template:1:4: the quoted string is never closed'],
    ['x {{ .a', 'template:1:3: the action is never closed: }} is missing'],
    ['{{ $x }}', 'template:1:4: the variable $x is not declared'],
    ['{{ .a.. }}', 'template:1:6: the name of a field is missing'],
    ['{{ (1 }}', 'template:1:4: the parenthesis is never closed'],
    ['{{ 1 | 2 }}', 'template:1:8: only a function can receive the value before the |'],
    ['{{ "\\q" }}', 'template:1:4: not a string: "\\q"'],
    ['{{ 1abc }}', 'template:1:4: not a number: 1abc'],
    ['{{ break }}', 'template:1:1: {{break}} outside of a range'],
    ['{{define "a"}}x{{end}}{{define "a"}}y{{end}}', 'template:1:23: "a" is defined twice'],
  ];
  for (const [template, message] of places) {
    it(`is reported with its place: ${message}`, () => {
      const error = errorOf(template);
      equal(error.message, message);
      equal(error.code, 'TEMPLATE_SYNTAX');
    });
  }

  it('at runtime is reported with its place and the calls that led there', () => {
    const templates = { inner: '\n {{ fail "no" }}' };
    const error = errorOf(
      '{{define "a"}}\n{{template "inner"}}{{end}}x\n{{template "a"}}',
      {},
      { name: 'main', templates },
    );
    equal(error.message, 'inner:2:5: no, called at main:2:1, called at main:3:1');
    equal(error.code, 'TEMPLATE_EXECUTION');
    equal(error.reason, 'no');
  });

  it('names the invalid argument and its type', () => {
    equal(errorOf('{{ upper .n }}', { n: 1 }).message, 'template:1:4: argument 1 must be a string, found a number');
    equal(errorOf('{{ .n.x }}', { n: 1 }).message, 'template:1:4: cannot read the field "x" of a number');
  });

  for (const [call, reason] of [
    ['genCA "a" 1', 'genCA is not supported: certificates cannot be issued in templates'],
    ['genSignedCert', 'genSignedCert is not supported: certificates cannot be issued in templates'],
    ['"a" | getHostByName', 'getHostByName is not supported: templates cannot access the network'],
    ['bcrypt "a"', 'bcrypt is not supported: the function is too slow for a request: compute the value in advance'],
    ['(upper (genPrivateKey "rsa"))', 'genPrivateKey is not supported: the function is too slow for a request'],
  ] as const) {
    it(`is reported before execution for an unsupported function: ${call}`, () => {
      throws(
        () => compileTemplate(`a\n{{ if .never }}{{ ${call} }}{{ end }}`),
        (error: TemplateError) => {
          equal(error.code, 'TEMPLATE_SYNTAX');
          match(error.message, /^template:2:/);
          equal(error.reason.startsWith(reason), true, error.reason);
          return true;
        },
      );
    });
  }
});

describe('the limits of a template', () => {
  const hostile: readonly (readonly [name: string, template: string])[] = [
    ['loops in loops', '{{range until 9999}}{{range until 9999}}{{end}}{{end}}'],
    ['a loop that never ends', '{{range 9223372036854775807}}{{end}}'],
    ['a very long list of numbers', '{{len (until 999999999999)}}'],
    ['a text that is repeated too often', '{{repeat 999999999 "abc"}}'],
    ['a text that grows', '{{$x := "a"}}{{range until 99}}{{$x = cat $x $x}}{{end}}'],
    ['too many replacements', '{{$x := repeat 9999 "a"}}{{range until 9}}{{$x = replace "a" $x $x}}{{end}}'],
    ['a very large indentation', '{{indent 999999999 "ab"}}'],
    ['a very large width', '{{printf "%999999d%999999d%999999d" 1 2 3 | repeat 99}}'],
    ['templates that call themselves', '{{define "a"}}{{template "a"}}{{end}}{{template "a"}}'],
    ['a map that contains itself', '{{$d := dict}}{{$_ := set $d "d" $d}}{{toJson $d}}'],
    ['printing a map that contains itself', '{{$d := dict}}{{$_ := set $d "d" $d}}{{$d}}'],
    [
      'comparing a map that contains itself',
      '{{$d := dict}}{{$_ := set $d "d" $d}}{{$e := dict}}{{$_ := set $e "d" $e}}{{deepEqual $d $e}}',
    ],
    ['merging a map that contains itself', '{{$d := dict}}{{$_ := set $d "d" $d}}{{deepCopy $d}}'],
    [
      'printing a value that is reachable in very many ways',
      '{{$d := dict}}{{range until 60}}{{$d = dict "a" $d "b" $d}}{{end}}{{toJson $d}}',
    ],
    [
      'joining very long texts',
      '{{$x := repeat 99999 "a"}}{{$l := list}}{{range until 999}}{{$l = append $l $x}}{{end}}{{join $x $l}}',
    ],
    ['a slow regular expression', '{{range until 999}}{{regexMatch "(a|b)*a(a|b){18}$" (repeat 20000 "ab")}}{{end}}'],
  ];
  for (const [name, template] of hostile) {
    it(`stop ${name}`, () => {
      const started = performance.now();
      equal(errorOf(template).code, 'TEMPLATE_LIMIT');
      // The limit far exceeds the time needed; with exponential time, the test would never end.
      equal(performance.now() - started < 20_000, true);
    });
  }

  it('are configurable', () => {
    match(errorOf('{{range until 99}}{{end}}', {}, { limits: { steps: 50 } }).message, /takes more than 50 steps/);
    match(errorOf('aaaaaaaaaaa', {}, { limits: { characters: 10 } }).message, /produces more than 10 characters/);
    equal(render('{{range until 99}}{{end}}', {}, { limits: { steps: 500 } }), '');
  });

  it('include a time limit', () => {
    const error = errorOf('{{range until 99999}}{{end}}', {}, { limits: { milliseconds: 0 } });
    match(error.message, /takes longer than 0 ms/);
  });

  it('include a limit on nesting', () => {
    match(errorOf(`{{${'('.repeat(500)}1${')'.repeat(500)}}}`).message, /nested deeper than 200/);
    match(errorOf('{{if 1}}'.repeat(500) + '{{end}}'.repeat(500)).message, /nested deeper than 200/);
  });

  it('include a limit on regular expressions and date layouts from data', () => {
    match(errorOf('{{regexMatch .p "a"}}', { p: 'a'.repeat(2000) }).message, /more than 1024 characters/);
    equal(render('{{(toDate .l .t).Year}}', { l: '2'.repeat(100), t: '1'.repeat(150) }), '1');
  });
});

describe('the data of a template', () => {
  it('gives no access to JavaScript objects', () => {
    const host = ['constructor', '__proto__', 'toString', 'valueOf', 'hasOwnProperty', '__defineGetter__'];
    for (const name of host) {
      equal(
        render(`{{.${name}}}|{{index . "${name}"}}|{{get . "${name}"}}|{{hasKey . "${name}"}}`),
        '<no value>|<no value>||false',
      );
      equal(render(`{{with dict "${name}" 5}}{{.${name}}}{{end}}`), '5');
    }
    throws(() => render('{{.a.constructor}}', { a: 'text' }), /cannot read the field "constructor" of a string/);
    throws(() => render('{{now.constructor}}'), /a time.Time has no "constructor"/);
    throws(() => render('{{(add 1 2).value}}'), /cannot read the field "value"/);
    equal(render('{{.n.rawJSON}}|{{kindOf .n}}', { n: { rawJSON: 'x' } }), 'x|map');
  });

  it('can have a key with the name of an Object.prototype member', () => {
    equal(
      render('{{toJson .}} {{range $k, $v := .}}{{$k}}{{end}}', JSON.parse('{"__proto__":{"a":1}}')),
      '{"__proto__":{"a":1}} __proto__',
    );
    equal(
      render('{{$d := dict "__proto__" (dict "admin" true)}}{{$d.admin}} {{(dict).admin}} {{toJson $d}}'),
      '<no value> <no value> {"__proto__":{"admin":true}}',
    );
    equal(render('{{toJson (merge (dict) .)}}', JSON.parse('{"__proto__":{"a":1}}')), '{"__proto__":{"a":1}}');
    equal(({} as Record<string, unknown>).admin, undefined);
  });

  it('cannot be changed if it is frozen', () => {
    const data = { v: Object.freeze({ a: 1 }) };
    match(errorOf('{{set .v "a" 2}}', data).message, /this map is read-only: use deepCopy to get a writable one/);
    match(errorOf('{{merge .v (dict "b" 2)}}', data).message, /is read-only/);
    equal(render('{{$v := deepCopy .v}}{{set $v "a" 2}}', data), 'map[a:2]');
  });

  it('includes neither environment nor network', () => {
    match(errorOf('{{env "HOME"}}').message, /unknown function env/);
    match(errorOf('{{getHostByName "localhost"}}').message, /getHostByName is not supported/);
  });
});
