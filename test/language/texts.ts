import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';

/** A text with its place, `file:line`. */
export interface Text {
  readonly place: string;
  readonly text: string;
}

/** A schema's description, with what the schema says about its field. */
export interface Description extends Text {
  /** Name of the field; empty for the description of a shared schema. */
  readonly field: string;
  /** Source text of each member of the schema, by name. */
  readonly members: ReadonlyMap<string, string>;
  /** True if the object that declares the field requires it, or one of several fields. */
  readonly isRequired: boolean;
}

const product = '{kernel,plugins,admin,scripts/chaos,scripts/docs,scripts/site}/**/*.ts';

/** Descriptions of schemas and all other literals of at least three words: messages, hints, log lines. Code samples, which contain line breaks, are skipped. */
export function literals(): { readonly descriptions: readonly Description[]; readonly messages: readonly Text[] } {
  const descriptions: Description[] = [];
  const messages: Text[] = [];
  for (const { node, source, place } of nodesOf(product)) {
    if (!(ts.isStringLiteralLike(node) || ts.isTemplateExpression(node))) continue;
    const text = inner(node);
    if (text.split(' ').length < 3 || text.includes('\n')) continue;
    const { parent } = node;
    const isDescription = ts.isPropertyAssignment(parent) && parent.name.getText() === 'description';
    if (isDescription) descriptions.push({ place: place(), text, ...fieldOf(parent.parent, source.text) });
    else messages.push({ place: place(), text });
  }
  return { descriptions, messages };
}

/** @param source text of the file: fields in a constant of their own are required if an object of the file requires them. */
function fieldOf(schema: ts.ObjectLiteralExpression, source: string): Omit<Description, keyof Text> {
  const { parent } = schema;
  const field = ts.isPropertyAssignment(parent) ? parent.name.getText() : '';
  const declaring = field ? membersOf(parent.parent.parent.parent) : undefined;
  const demanded = declaring
    ? `${declaring.get('required')} ${declaring.get('exactlyOneOf')}`
    : source.match(/\brequired: \[[^\]]*\]/g)?.join(' ');
  return { field, members: membersOf(schema) ?? new Map(), isRequired: demanded?.includes(`'${field}'`) ?? false };
}

function membersOf(node: ts.Node): ReadonlyMap<string, string> | undefined {
  if (!ts.isObjectLiteralExpression(node)) return undefined;
  const members = node.properties.filter(ts.isPropertyAssignment);
  return new Map(members.map(({ name, initializer }) => [name.getText(), initializer.getText()]));
}

/** Rules of the specification and the descriptions of their deviations. */
export function rules(): Text[] {
  return globSync(['test/specification.json', 'test/specification/*.json']).flatMap((path) => {
    const rows = JSON.parse(readFileSync(path, 'utf8')) as readonly { id: string; rule: string; deviation?: string }[];
    return rows.flatMap(({ id, rule, deviation }) =>
      [rule, ...(deviation === undefined ? [] : [deviation])].map((text) => ({ place: `${path} ${id}`, text })),
    );
  });
}

/** Comments of TypeScript files, each at the line on which it begins. */
export function comments(...globs: readonly string[]): Text[] {
  const results = new Map<string, Text>();
  for (const { node, source, place } of globs.flatMap((glob) => [...nodesOf(glob)])) {
    for (const { pos, end } of ts.getLeadingCommentRanges(source.text, node.getFullStart()) ?? []) {
      const words = source.text.slice(pos, end).replaceAll(/^\s*(\/\*\*|\/\/|\*\/?)|\*\/$/gm, '');
      results.set(`${source.fileName}:${pos}`, { place: place(pos), text: oneLine(words) });
    }
  }
  return [...results.values()];
}

/** Comments of Lua scripts. */
export function luaComments(glob: string): Text[] {
  return globSync(glob).flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, at) => {
        const [, text] = /^\s*--\s*(.*)$/.exec(line) ?? [];
        return text ? [{ place: `${file}:${at + 1}`, text }] : [];
      }),
  );
}

/** Names of suites and tests. */
export function titles(glob: string): Text[] {
  return [...nodesOf(glob)].flatMap(({ node, place }) => {
    if (!ts.isCallExpression(node) || !/^(describe|it)\b/.test(node.expression.getText())) return [];
    const [title] = node.arguments;
    if (!title || !(ts.isStringLiteralLike(title) || ts.isTemplateExpression(title))) return [];
    return [{ place: place(), text: inner(title) }];
  });
}

/** Paragraphs, list entries and table rows of Markdown files, without code. */
export function paragraphs(...globs: readonly string[]): Text[] {
  return globs
    .flatMap((glob) => globSync(glob))
    .flatMap((file) => {
      const lines = readFileSync(file, 'utf8').replaceAll(/^ *```[\s\S]*?^ *```/gm, (code) =>
        code.replaceAll(/[^\n]/g, ''),
      );
      return lines.split('\n').flatMap((line, at) => {
        const text = line
          .replace(/^[\s>#*|-]+/, '')
          .replaceAll(/`[^`]*`/g, '`…`')
          .trim();
        return text ? [{ place: `${file}:${at + 1}`, text }] : [];
      });
    });
}

interface Visited {
  readonly node: ts.Node;
  readonly source: ts.SourceFile;
  /** Place of the node, or of an offset of its file. */
  readonly place: (offset?: number) => string;
}

function* nodesOf(glob: string): Generator<Visited> {
  for (const file of globSync(glob)
    .filter((path) => !path.includes('node_modules'))
    .sort()) {
    const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
    const line = (offset: number) => source.getLineAndCharacterOfPosition(offset).line + 1;
    const nodes: ts.Node[] = [source];
    for (let node = nodes.pop(); node; node = nodes.pop()) {
      const visited = node;
      yield { node, source, place: (offset = visited.getStart()) => `${file}:${line(offset)}` };
      ts.forEachChild(node, (child) => void nodes.push(child));
    }
  }
}

const inner = (literal: ts.Node) => literal.getText().slice(1, -1);

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
