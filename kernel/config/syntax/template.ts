import type { TextRange } from './position.ts';
import { syntaxFault, type TextFault } from './text-format.ts';

/**
 * An expression of a template engine, `{{ … }}`. Quotes right after the opening braces are excluded, because they
 * belong to JSON.
 */
const template = /\{\{-?[ \t]*[\w.$(`/][^\n\r]*?\}\}/;
const templateHere = new RegExp(template, 'y');
const templates = new RegExp(template, 'g');

/** Range of the `{{ … }}` that begins at an offset. */
export function templateAt(text: string, start: number): TextRange | undefined {
  templateHere.lastIndex = start;
  const match = templateHere.exec(text);
  return match ? { start, end: templateHere.lastIndex } : undefined;
}

/** Placeholder syntax that the interpolation of environment variables supports. */
const INTERPOLATED = /^\$\{[A-Za-z_]\w*(?::[-?][^{}]*)?\}$/;

/** Hint for an unresolved variable or template: `${X}`, `$X`, `{{ env "X" }}`, `{{ .x }}`. */
export function fillingHint(text: string): string {
  if (text.startsWith('{{')) return 'set FC_ENABLE=1 in the environment to render the file as a template';
  if (INTERPOLATED.test(text)) return `set GATEWAY_ENV_INTERPOLATION=1 in the environment to have ${text} replaced`;
  const [, name] = /^\$\{?(\w+)/.exec(text) ?? [];
  return `write \${${name}} and set GATEWAY_ENV_INTERPOLATION=1 in the environment to have it replaced`;
}

/** Hint for `$ref`, or another key, that was meant to include a file; other references are not supported. */
export function includeHint(key: string, reference: unknown): string {
  if (typeof reference !== 'string' || /^#|:\/\//.test(reference)) return 'replace it with the value that it refers to';
  const options = key === '$ref' ? '{}' : `{"ref_key": "${key}"}`;
  return `create flexible_config.json with ${options} in the working directory to include the file`;
}

/** Error for a `{{ … }}` in place of data. */
export function templateFault(text: string, range: TextRange): TextFault {
  return syntaxFault('templates are not rendered', range, fillingHint(text.slice(range.start, range.end)));
}

/** Replaces errors in a `{{ … }}`, or directly below a line that begins with one, with an error about the template; leaves others unchanged. */
export function asTemplateFaults(text: string, faults: readonly TextFault[]): readonly TextFault[] {
  if (!text.includes('{{')) return faults;
  const results = Array.from(text.matchAll(templates), ({ 0: written, index }) => ({
    start: index,
    end: index + written.length,
  }));
  return faults.map((fault) => {
    const { start } = fault.range;
    const nearest = results.findLast((range) => range.start <= start);
    const isMeant = nearest && (start <= nearest.end || isLineAbove(text, nearest, start));
    return isMeant ? templateFault(text, nearest) : fault;
  });
}

function isLineAbove(text: string, template: TextRange, offset: number): boolean {
  const lineStart = text.lastIndexOf('\n', template.start - 1) + 1;
  const isFirst = text.slice(lineStart, template.start).trim() === '';
  return isFirst && /^[^\n]*\n[^\n]*$/.test(text.slice(template.end, offset));
}
