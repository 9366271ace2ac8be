import MarkdownIt, { type Token } from 'markdown-it';
import { anchor } from '../docs/markdown.ts';

/** A part of a page below one heading, for the search. */
export interface Section {
  /** Empty for the part before the first heading of the second level. */
  readonly anchor: string;
  readonly title: string;
  readonly level: number;
  readonly text: string;
  /** Names that the part defines: its heading, and the first cells of its tables. */
  readonly names: readonly string[];
}

export interface Rendered {
  readonly html: string;
  readonly sections: readonly Section[];
}

/** Renders Markdown. @param resolve returns the address of a link or image, or null to omit it. */
export function renderMarkdown(text: string, resolve: (target: string) => string | null): Rendered {
  const markdown = new MarkdownIt({ html: false, linkify: false });
  const tokens = markdown.parse(text, {});
  nameHeadings(tokens);
  labelCells(tokens);
  for (const token of tokens) for (const child of token.children ?? []) redirect(child, resolve);
  const { rules } = markdown.renderer;
  rules.fence = (all, at) => {
    const { content, info } = all[at]!;
    const language = info === '' ? '' : ` data-language="${markdown.utils.escapeHtml(info)}"`;
    const code = markdown.utils.escapeHtml(content);
    return `<div class="code"${language}><pre tabindex="0"><code>${code}</code></pre></div>\n`;
  };
  rules.code_block = (all, at) =>
    `<div class="code"><pre tabindex="0"><code>${markdown.utils.escapeHtml(all[at]!.content)}</code></pre></div>\n`;
  // Allows line breaks in long names after their separators.
  rules.code_inline = (all, at) =>
    `<code>${markdown.utils.escapeHtml(all[at]!.content).replace(/[_./](?=\w)/g, '$&<wbr>')}</code>`;
  rules.heading_close = (all, at) => {
    const { tag } = all[at]!;
    const id = all[at - 2]!.attrGet('id');
    if (tag === 'h1') return `</${tag}>\n`;
    const label = markdown.utils.escapeHtml(`Link to ${textOf(all[at - 1]!)}`);
    return ` <a class="anchor" href="#${id}" aria-label="${label}">#</a></${tag}>\n`;
  };
  return { html: markdown.renderer.render(tokens, markdown.options, {}), sections: sectionsOf(tokens) };
}

/** Gives headings the anchors that links in the Markdown use; repeated ones get a number. */
function nameHeadings(tokens: readonly Token[]): void {
  const seen = new Map<string, number>();
  for (const [at, token] of tokens.entries()) {
    if (token.type !== 'heading_open') continue;
    const id = anchor(textOf(tokens[at + 1]!));
    const count = seen.get(id) ?? 0;
    seen.set(id, count + 1);
    token.attrSet('id', count === 0 ? id : `${id}-${count}`);
  }
}

/** Gives cells the name of their column, which narrow screens show next to them. */
function labelCells(tokens: readonly Token[]): void {
  let head: string[] = [];
  let column = 0;
  for (const [at, { type }] of tokens.entries()) {
    if (type === 'table_open') head = [];
    if (type === 'tr_open') column = 0;
    if (type === 'th_open') head.push(textOf(tokens[at + 1]!));
    if (type !== 'td_open') continue;
    const label = head[column++];
    if (label) tokens[at]!.attrSet('data-label', label);
  }
}

function redirect(token: Token, resolve: (target: string) => string | null): void {
  const name = token.type === 'link_open' ? 'href' : token.type === 'image' ? 'src' : null;
  if (name === null) return;
  const target = resolve(String(token.attrGet(name)));
  if (target === null) token.attrs = [['class', 'nowhere']];
  else token.attrSet(name, target);
}

function textOf({ children }: Token): string {
  return (children ?? []).map(({ type, content }) => (type === 'softbreak' ? ' ' : content)).join('');
}

function sectionsOf(tokens: readonly Token[]): Section[] {
  const sections: { anchor: string; title: string; level: number; lines: string[]; names: string[] }[] = [];
  for (const [at, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const title = textOf(tokens[at + 1]!);
      const level = Number(token.tag.slice(1));
      const id = level === 1 ? '' : String(token.attrGet('id'));
      sections.push({ anchor: id, title, level, lines: [], names: [title] });
      continue;
    }
    const last = sections.at(-1);
    if (!last || tokens[at - 1]?.type === 'heading_open') continue;
    if (token.type === 'inline') last.lines.push(textOf(token));
    if (token.type === 'fence' || token.type === 'code_block') last.lines.push(token.content);
    if (token.type === 'td_open' && tokens[at - 1]!.type === 'tr_open') last.names.push(textOf(tokens[at + 1]!));
  }
  return sections.map(({ lines, ...section }) => ({ ...section, text: lines.join(' ') }));
}
