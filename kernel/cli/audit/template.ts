import { isObject } from '#contract';

/** A template that is invalid, or refers to an unknown field. */
export class TemplateError extends Error {}

/** Functions available to a template, each with one argument. */
export type TemplateFunctions = Readonly<Record<string, (value: unknown) => string>>;

type Writer = (dot: unknown, root: unknown) => string;

interface Token {
  readonly text: string;
  readonly isAction: boolean;
}

/**
 * Compiles the subset of Go's template language that reports need: text; `{{.Field.Inner}}`, `{{.}}` and `{{$.Field}}`;
 * `{{range .List}} … {{end}}`; `{{name .Field}}` and `{{.Field | name}}` for a function; `{{"text"}}`; comments; `{{-`
 * and `-}}`, which trim adjacent white space. In templates, field names begin with an uppercase letter; the
 * corresponding names in the data begin with a lowercase one.
 *
 * @throws TemplateError immediately for any other syntax; when run, for a field that the data does not have.
 */
export function compileTemplate(source: string, functions: TemplateFunctions): (data: unknown) => string {
  const tokens = tokensOf(source);
  const [writers, rest] = compileUntilEnd(tokens, functions);
  if (rest.length > 0) throw new TemplateError('{{end}} without {{range}}');
  return (data) => writers.map((writer) => writer(data, data)).join('');
}

function tokensOf(source: string): Token[] {
  const pieces = source.split(/\{\{((?:"(?:[^"\\]|\\.)*"|`[^`]*`|[^"`}]|\}(?!\}))*)\}\}/);
  const tokens: Token[] = [];
  for (const [at, piece] of pieces.entries()) {
    const isAction = at % 2 === 1;
    if (!isAction) {
      const ownEnd = pieces[at + 1] !== undefined && /^-\s/.test(pieces[at + 1]!) ? piece.trimEnd() : piece;
      const text = at > 0 && /\s-$/.test(pieces[at - 1]!) ? ownEnd.trimStart() : ownEnd;
      if (text.includes('{{')) throw new TemplateError('{{ without }}');
      tokens.push({ text, isAction });
    } else {
      const text = piece.replace(/^-\s/, '').replace(/\s-$/, '').trim();
      if (!/^\/\*.*\*\/$/s.test(text)) tokens.push({ text, isAction });
    }
  }
  return tokens;
}

/** Compiles tokens up to an unmatched `end`. @returns the compiled parts, and the tokens from that `end` on. */
function compileUntilEnd(tokens: readonly Token[], functions: TemplateFunctions): [parts: Writer[], rest: Token[]] {
  const writers: Writer[] = [];
  let left = tokens.slice();
  while (left.length > 0) {
    const { text, isAction } = left[0]!;
    if (isAction && text === 'end') break;
    left = left.slice(1);
    const list = isAction ? /^range\s+(.+)$/s.exec(text)?.[1] : undefined;
    if (!isAction) {
      writers.push(() => text);
    } else if (list === undefined) {
      const value = compilePipeline(text, functions);
      writers.push((dot, root) => print(value(dot, root)));
    } else {
      const items = compileOperand(list.trim());
      const [inner, rest] = compileUntilEnd(left, functions);
      if (rest.length === 0) throw new TemplateError(`{{range ${list}}} without {{end}}`);
      left = rest.slice(1);
      writers.push((dot, root) => {
        const match = items(dot, root);
        if (!Array.isArray(match)) throw new TemplateError(`${list} is not a list`);
        return match.map((item) => inner.map((writer) => writer(item, root)).join('')).join('');
      });
    }
  }
  return [writers, left];
}

type Value = (dot: unknown, root: unknown) => unknown;

/** Compiles a pipeline, `value | function | function`, whose value can be a function call, `function value`. */
function compilePipeline(text: string, functions: TemplateFunctions): Value {
  const [first, ...names] = text.split(/\s*\|\s*(?=(?:[^"`]|"[^"]*"|`[^`]*`)*$)/) as [string, ...string[]];
  const call = /^(\w+)\s+(.+)$/s.exec(first);
  const start = compileOperand(call ? call[2]! : first);
  return [...(call ? [call[1]!] : []), ...names].reduce<Value>((inner, name) => {
    const run = Object.hasOwn(functions, name) ? functions[name]! : undefined;
    if (!run) throw new TemplateError(`unknown function ${name}`);
    return (dot, root) => run(inner(dot, root));
  }, start);
}

function compileOperand(text: string): Value {
  const literal = /^(?:"(?:[^"\\]|\\.)*"|`[^`]*`)$/.test(text) ? readLiteral(text) : undefined;
  if (literal !== undefined) return () => literal;
  const path = /^(\$?)((?:\.\w+)+|\.|)$/.exec(text);
  if (!path || text === '') throw new TemplateError(`cannot read {{${text}}}`);
  const [, fromRoot, fields] = path as unknown as [string, string, string];
  const keys = fields.split('.').filter((key) => key !== '');
  return (dot, root) => keys.reduce(fieldOf, fromRoot === '' ? dot : root);
}

function readLiteral(text: string): string {
  if (text.startsWith('`')) return text.slice(1, -1);
  try {
    return String(JSON.parse(text));
  } catch {
    throw new TemplateError(`cannot read ${text}`);
  }
}

/** Known fields that a template may use although a finding can lack them, such as positions in a file. They print nothing when absent. */
const optional: ReadonlySet<string> = new Set(['file', 'line', 'column']);

function fieldOf(value: unknown, name: string): unknown {
  const key = name.charAt(0).toLowerCase() + name.slice(1);
  const isKnown = isObject(value) && (Object.hasOwn(value, key) || optional.has(key));
  if (!isKnown) throw new TemplateError(`unknown field .${name}`);
  return value[key] ?? '';
}

function print(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
