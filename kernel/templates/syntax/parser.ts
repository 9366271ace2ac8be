import type { Source } from '../source.ts';
import { Variables } from '../variables.ts';
import { readTokens, type Token } from './lexer.ts';
import type { Branch, Definition, Node } from './nodes.ts';
import { PipelineParser } from './pipeline-parser.ts';
import { TokenReader } from './token-reader.ts';

/** Maximum nesting depth of control structures. */
const MAX_DEPTH = 200;

/** Action that ends a list of nodes. */
type Ending = 'end' | 'else';

/**
 * Parses a template. The first definition is the template itself, followed by those that it defines.
 * @param hasFunction returns true for the name of a function.
 * @throws TemplateError TEMPLATE_SYNTAX.
 */
export function parseTemplate(source: Source, hasFunction: (name: string) => boolean): Definition[] {
  return new Parser(new TokenReader(source, readTokens(source)), hasFunction).parse();
}

class Parser {
  readonly #tokens: TokenReader;
  readonly #hasFunction: (name: string) => boolean;
  readonly #definitions: Definition[] = [];
  #variables = new Variables();
  #pipelines: PipelineParser;
  #ranges = 0;
  #depth = 0;

  constructor(tokens: TokenReader, hasFunction: (name: string) => boolean) {
    this.#tokens = tokens;
    this.#hasFunction = hasFunction;
    this.#pipelines = new PipelineParser(tokens, this.#variables, hasFunction);
  }

  parse(): Definition[] {
    const nodes: Node[] = [];
    for (;;) {
      const token = this.#tokens.next();
      if (token.kind === 'end') break;
      const word = this.#keyword(token);
      if (word === 'define') this.#define(token.at);
      else if (word === 'end' || word === 'else')
        throw this.#tokens.fault(token.at, `{{${word}}} without a matching start`);
      else nodes.push(this.#node(token));
    }
    return [{ name: this.#tokens.source.name, nodes, slots: this.#variables.slots }, ...this.#definitions];
  }

  /** Keyword that an action begins with; not consumed. */
  #keyword(token: Token): string | undefined {
    if (token.kind !== 'open') return undefined;
    const next = this.#tokens.peekSolid();
    return next.kind === 'word' ? next.text : undefined;
  }

  /** The nodes up to `{{end}}` or `{{else}}`. Consumes the closing action, but not what follows the word `else`. */
  #list(where: string, at: number): { readonly nodes: Node[]; readonly ending: Ending } {
    const nodes: Node[] = [];
    for (;;) {
      const token = this.#tokens.next();
      if (token.kind === 'end') throw this.#tokens.fault(at, `{{${where}}} has no {{end}}`);
      const word = this.#keyword(token);
      if (word === 'end') {
        this.#tokens.next();
        this.#close('end');
        return { nodes, ending: word };
      }
      if (word === 'else') {
        this.#tokens.next();
        return { nodes, ending: word };
      }
      nodes.push(this.#node(token));
    }
  }

  #close(where: string): void {
    const token = this.#tokens.nextSolid();
    if (token.kind !== 'close') throw this.#tokens.unexpected(token, where);
  }

  #node(token: Token): Node {
    const { at } = token;
    if (token.kind === 'text') return { kind: 'text', at, text: token.text };
    if (token.kind !== 'open') throw this.#tokens.unexpected(token, 'the text');
    const next = this.#tokens.peekSolid();
    const word = next.kind === 'word' ? next.text : '';
    switch (word) {
      case 'if':
      case 'with':
      case 'range':
        this.#tokens.next();
        return this.#control(word, at);
      case 'template':
        this.#tokens.next();
        return this.#call(at);
      case 'block':
        this.#tokens.next();
        return this.#block(at);
      case 'break':
      case 'continue':
        this.#tokens.next();
        if (this.#ranges === 0) throw this.#tokens.fault(at, `{{${word}}} outside of a range`);
        this.#close(word);
        return { kind: word, at };
      case 'define':
        throw this.#tokens.fault(at, '{{define}} inside of another structure');
      default:
        return { kind: 'action', at: next.at, pipeline: this.#pipelines.action('action') };
    }
  }

  #control(kind: 'if' | 'with' | 'range', at: number): Node {
    if (++this.#depth > MAX_DEPTH) throw this.#tokens.fault(at, `nested deeper than ${MAX_DEPTH}`);
    const node = this.#variables.scoped(() => {
      const pipeline = this.#pipelines.action(kind);
      if (kind === 'range') this.#ranges++;
      const { nodes: body, ending } = this.#list(kind, at);
      if (kind === 'range') this.#ranges--;
      const otherwise = ending === 'else' ? this.#otherwise(kind, at) : [];
      return { kind, at, pipeline, body, otherwise } as Node;
    });
    this.#depth--;
    return node;
  }

  /** Parses the rest of an `else` branch: `{{else if}}` and `{{else with}}` are nested structures that share one `{{end}}`. */
  #otherwise(kind: 'if' | 'with' | 'range', at: number): Node[] {
    const next = this.#tokens.peekSolid();
    if (kind !== 'range' && next.kind === 'word' && next.text === kind) {
      this.#tokens.next();
      return [this.#control(kind, next.at) as Branch];
    }
    this.#close('else');
    const { nodes, ending } = this.#list(kind, at);
    if (ending === 'else') throw this.#tokens.fault(at, `{{${kind}}} has two {{else}}`);
    return nodes;
  }

  #name(where: string): string {
    const token = this.#tokens.nextSolid();
    if (token.kind !== 'literal' || typeof token.value !== 'string') throw this.#tokens.unexpected(token, where);
    return token.value;
  }

  #call(at: number): Node {
    const name = this.#name('template');
    if (this.#tokens.take('close')) return { kind: 'template', at, name, pipeline: null };
    return { kind: 'template', at, name, pipeline: this.#pipelines.action('template') };
  }

  #block(at: number): Node {
    const name = this.#name('block');
    const pipeline = this.#pipelines.action('block');
    this.#definition(name, 'block', at);
    return { kind: 'template', at, name, pipeline };
  }

  #define(at: number): void {
    this.#tokens.nextSolid();
    const name = this.#name('define');
    this.#close('define');
    this.#definition(name, 'define', at);
  }

  /** A definition cannot use the variables and ranges that surround it. */
  #definition(name: string, where: string, at: number): void {
    const [variables, pipelines, ranges] = [this.#variables, this.#pipelines, this.#ranges];
    if (++this.#depth > MAX_DEPTH) throw this.#tokens.fault(at, `nested deeper than ${MAX_DEPTH}`);
    this.#variables = new Variables();
    this.#pipelines = new PipelineParser(this.#tokens, this.#variables, this.#hasFunction);
    this.#ranges = 0;
    const { nodes, ending } = this.#list(where, at);
    if (ending === 'else') throw this.#tokens.fault(at, `{{else}} in {{${where}}}`);
    this.#keep({ name, nodes, slots: this.#variables.slots }, at);
    [this.#variables, this.#pipelines, this.#ranges] = [variables, pipelines, ranges];
    this.#depth--;
  }

  /** A definition that consists only of white space does not replace an existing one. */
  #keep(definition: Definition, at: number): void {
    const other = this.#definitions.findIndex(({ name }) => name === definition.name);
    if (other < 0) this.#definitions.push(definition);
    else if (isBlank(this.#definitions[other]!)) this.#definitions[other] = definition;
    else if (!isBlank(definition)) throw this.#tokens.fault(at, `${JSON.stringify(definition.name)} is defined twice`);
  }
}

/** True if a template outputs only white space. */
export function isBlank({ nodes }: Definition): boolean {
  return nodes.every((node) => node.kind === 'text' && node.text.trim() === '');
}
