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

const product = '{kernel,plugins,admin,scripts/chaos,scripts/docs,scripts/site}/**/*.{ts,tsx}';

/** Descriptions of schemas and all other literals of at least three words: messages, hints, log lines. Code samples, which contain line breaks, are skipped. */
export function literals(): { readonly descriptions: readonly Description[]; readonly messages: readonly Text[] } {
  const files = filesOf(product).map(textsOf);
  return {
    descriptions: files.flatMap(({ descriptions }) => descriptions),
    messages: files.flatMap(({ messages }) => messages),
  };
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
  return globs.flatMap(filesOf).flatMap((file) => textsOf(file).comments);
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
  return filesOf(glob).flatMap((file) => textsOf(file).titles);
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

/** The texts of a TypeScript file. */
interface Texts {
  readonly descriptions: Description[];
  readonly messages: Text[];
  readonly comments: Text[];
  readonly titles: Text[];
}

const filesOf = (glob: string): string[] =>
  globSync(glob)
    .filter((path) => !path.includes('node_modules'))
    .sort();

const known = new Map<string, Texts>();

/** Each file is parsed once, because that takes nearly all the time. */
function textsOf(file: string): Texts {
  const texts = known.get(file) ?? readTexts(file);
  known.set(file, texts);
  return texts;
}

function readTexts(file: string): Texts {
  const texts: Texts = { descriptions: [], messages: [], comments: [], titles: [] };
  const options = { languageVersion: ts.ScriptTarget.Latest, jsDocParsingMode: ts.JSDocParsingMode.ParseNone };
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), options, true);
  const place = (offset: number) => `${file}:${source.getLineAndCharacterOfPosition(offset).line + 1}`;
  const starts = new Set<number>();
  const comments = new Map<number, Text>();
  const visit = (node: ts.Node): void => {
    // Comments are added only once for nodes that begin at the same position, such as a node and its first child.
    if (!starts.has(node.pos)) addComments(node.pos);
    starts.add(node.pos);
    if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) addLiteral(node);
    else if (ts.isJsxText(node)) addText(node);
    else if (ts.isCallExpression(node)) addTitle(node);
    ts.forEachChild(node, visit);
  };
  const addComments = (offset: number): void => {
    for (const { pos, end } of ts.getLeadingCommentRanges(source.text, offset) ?? []) {
      const words = source.text.slice(pos, end).replaceAll(/^\s*(\/\*\*|\/\/|\*\/?)|\*\/$/gm, '');
      comments.set(pos, { place: place(pos), text: oneLine(words) });
    }
  };
  const addLiteral = (node: ts.StringLiteralLike | ts.TemplateExpression): void => {
    const text = inner(node);
    if (text.split(' ').length < 3 || text.includes('\n')) return;
    const { parent } = node;
    const isDescription = ts.isPropertyAssignment(parent) && parent.name.getText() === 'description';
    const plain = { place: place(node.getStart()), text };
    if (isDescription) texts.descriptions.push({ ...plain, ...fieldOf(parent.parent, source.text) });
    else texts.messages.push(plain);
  };
  const addText = (node: ts.JsxText): void => {
    const text = oneLine(node.getText());
    if (text.split(' ').length >= 3) texts.messages.push({ place: place(node.getStart()), text });
  };
  const addTitle = (node: ts.CallExpression): void => {
    const [title] = node.arguments;
    if (!title || !(ts.isStringLiteralLike(title) || ts.isTemplateExpression(title))) return;
    if (/^(describe|it)\b/.test(node.expression.getText()))
      texts.titles.push({ place: place(node.getStart()), text: inner(title) });
  };
  visit(source);
  texts.comments.push(...comments.values());
  return texts;
}

const inner = (literal: ts.Node) => literal.getText().slice(1, -1);

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
