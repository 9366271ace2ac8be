import { equal, throws } from 'node:assert/strict';
import { compileTemplate, TemplateError } from '../../../kernel/cli/audit/template.ts';

const functions = { marshal: (value: unknown) => JSON.stringify(value), loud: (value: unknown) => `${value}!` };
const data = {
  name: 'a',
  list: [
    { id: 1, inner: ['x', 'y'] },
    { id: 2, inner: [] },
  ],
  one: { two: 'z' },
};

describe('a report template of audit', () => {
  for (const [template, printed] of [
    ['plain', 'plain'],
    ['{{.Name}} and {{ .One.Two }}', 'a and z'],
    ['{{range .List}}{{.Id}};{{end}}', '1;2;'],
    ['{{range .List}}{{range .Inner}}{{.}}{{end}}|{{end}}', 'xy||'],
    ['{{range .List}}{{$.Name}}{{end}}', 'aa'],
    ['{{marshal .One}}', '{"two":"z"}'],
    ['{{ .Name | loud }}', 'a!'],
    ['{{ loud .Name | loud }}', 'a!!'],
    ['{{"a\\tb"}}', 'a\tb'],
    ['{{`|`}}', '|'],
    ['{{"}}"}}', '}}'],
    ['a {{- .Name -}} b', 'aab'],
    ['a{{/* nothing */}}b', 'ab'],
    ['{{range .List}}{{.Line}}{{end}}', ''],
  ] as const) {
    it(`renders ${template} as ${JSON.stringify(printed)}`, () =>
      equal(compileTemplate(template, functions)(data), printed));
  }

  for (const template of [
    '{{',
    '{{.Name',
    '{{range .List}}',
    '{{end}}',
    '{{if .Name}}',
    '{{unknown .}}',
    '{{}}',
    '{{.a b}}',
  ]) {
    it(`is rejected as invalid: ${template}`, () => throws(() => compileTemplate(template, functions), TemplateError));
  }

  for (const template of ['{{.Nothing}}', '{{.Name.Inner}}', '{{range .Name}}{{end}}', '{{.ToString}}']) {
    it(`fails if the data has other types: ${template}`, () => {
      throws(() => compileTemplate(template, functions)(data), TemplateError);
    });
  }
});
