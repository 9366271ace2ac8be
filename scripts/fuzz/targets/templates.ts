import fc from 'fast-check';
import { Reply } from '#contract';
import { plugin } from '../../../plugins/modifier/response-body-generator.ts';
import { tryComponent } from '../component.ts';
import { damaged, data, programs } from '../grammar.ts';
import { defineTarget } from '../target.ts';

const values = programs(
  ['.', '.resp_body', '.resp_body.value', '$x', '1', '-1.5', '"a"', '`b`', 'true', 'nil', "'c'", '$', '.variables'],
  [
    '(len #)',
    '(index # #)',
    '(printf "%v %d %s" # # #)',
    '(eq # #)',
    '(lt # #)',
    '(and # #)',
    '(or # #)',
    '(not #)',
    '(toJson #)',
    '(fromJson #)',
    '(repeat 999 #)',
    '(trunc # #)',
    '(splitList # #)',
    '(join # #)',
    '(list # #)',
    '(dict # #)',
    '(default # #)',
    '(upper #)',
    '(regexMatch # #)',
    '(until #)',
    '(add # #)',
    '(div # #)',
    '(date # #)',
    '(b64enc #)',
    '(sha256sum #)',
    '(# | toString)',
    '(ternary # # #)',
    '(get # #)',
    '(set # # #)',
    '(sortAlpha #)',
    '(substr # # #)',
  ],
  4,
);
const blocks = programs(
  ['a', '{{ break }}', '{{/* c */}}', '{{- "x" -}}', ' '],
  [
    '##',
    '{{ range $i, $e := until 50 }}#{{ end }}',
    '{{ if . }}#{{ else }}#{{ end }}',
    '{{ with . }}#{{ end }}',
    '{{ define "t" }}#{{ end }}',
    '{{ template "t" . }}#',
    '{{ block "u" . }}#{{ end }}',
    '{{ $x := 1 }}#',
  ],
  4,
);
const templatesOf = fc
  .tuple(blocks, fc.array(values, { maxLength: 3 }))
  .map(([block, inner]) => `{{ $x := .resp_body }}${block}${inner.map((value) => `{{ ${value} }}`).join('')}`);

/** Templates of modifier/response-body-generator. */
export const templates = defineTarget({
  name: 'templates',
  law: 'A template is refused at its start or rendered within its limits.',
  boundMs: 300,
  rooms: ['kernel/templates/', 'plugins/engines/templates/'],
  isGuided: true,
  inputs: fc.record({ template: damaged(templatesOf), value: data }),
  async open() {
    return { accept, async close() {} };
  },
});

function accept({ template, value }: { template: string; value: unknown }): Promise<void> {
  const config = { template: Buffer.from(template || ' ').toString('base64'), content_type: 'text/plain' };
  return tryComponent(plugin, 'endpoint', config, 'GET /', { next: () => Reply.data({ value } as never) });
}
