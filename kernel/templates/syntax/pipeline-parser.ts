import type { Variables } from '../variables.ts';
import type { Command, Operand, Pipeline } from './nodes.ts';
import type { TokenReader } from './token-reader.ts';

/** Maximum nesting depth of parentheses. */
const MAX_DEPTH = 200;

/** Parses the content of `{{` and `}}`. */
export class PipelineParser {
  readonly #tokens: TokenReader;
  readonly #variables: Variables;
  readonly #hasFunction: (name: string) => boolean;
  #depth = 0;

  constructor(tokens: TokenReader, variables: Variables, hasFunction: (name: string) => boolean) {
    this.#tokens = tokens;
    this.#variables = variables;
    this.#hasFunction = hasFunction;
  }

  /** Parses up to the closing braces and consumes them. @param where name of the context in messages, as in `missing value for if`. */
  action(where: string): Pipeline {
    const pipeline = this.#pipeline(where);
    this.#tokens.next();
    return pipeline;
  }

  /** Parses up to the closing braces or parenthesis. */
  #pipeline(where: string): Pipeline {
    const { at } = this.#tokens.peekSolid();
    const variables = this.#assigned(where);
    const commands: Command[] = [];
    // A pipe after the last command has no effect, as in Go.
    do commands.push(this.#command(where));
    while (this.#tokens.take('|') && !this.#isEnd());
    const token = this.#tokens.peekSolid();
    if (!this.#isEnd()) throw this.#tokens.unexpected(token, where);
    const constant = commands
      .slice(1)
      .find(({ operands: [first] }) => first.kind === 'literal' || first.kind === 'dot');
    if (constant) throw this.#tokens.fault(constant.at, 'only a function can receive the value before the |');
    return { at, variables, commands };
  }

  #isEnd(): boolean {
    const { kind } = this.#tokens.peekSolid();
    return kind === 'close' || kind === ')';
  }

  /** Parses `$x :=`, `$x =` and, in a range, `$i, $x :=`. */
  #assigned(where: string): number[] {
    const tokens = this.#tokens;
    const names: { readonly name: string; readonly at: number }[] = [];
    const start = tokens.mark;
    for (;;) {
      const token = tokens.nextSolid();
      if (token.kind !== 'variable') break;
      names.push({ name: token.text, at: token.at });
      const sign = tokens.nextSolid();
      if (sign.kind === ',' && where === 'range' && names.length === 1) continue;
      if (sign.kind !== ':=' && sign.kind !== '=') break;
      return names.map(({ name, at }) => (sign.kind === ':=' ? this.#variables.declare(name) : this.#slot(name, at)));
    }
    tokens.back(start);
    return [];
  }

  #slot(name: string, at: number): number {
    const slot = this.#variables.slotOf(name);
    if (slot === undefined) throw this.#tokens.fault(at, `the variable ${name} is not declared`);
    return slot;
  }

  #command(where: string): Command {
    const { at } = this.#tokens.peekSolid();
    const operands: Operand[] = [];
    for (;;) {
      const operand = this.#operand();
      if (!operand) break;
      operands.push(operand);
      if (this.#tokens.peek().kind !== 'space') break;
    }
    const token = this.#tokens.peekSolid();
    if (token.kind !== 'close' && token.kind !== ')' && token.kind !== '|') throw this.#tokens.unexpected(token, where);
    const [first, ...others] = operands;
    if (!first) throw this.#tokens.fault(at, `missing value for ${where}`);
    this.#demandCallable(first, others);
    return { at, operands: [first, ...others] };
  }

  #demandCallable(first: Operand, others: readonly Operand[]): void {
    if (first.kind === 'nil') throw this.#tokens.fault(first.at, 'nil is not a command');
    const isCallable = first.kind === 'function' || ('path' in first && first.path.length > 0);
    if (others.length > 0 && !isCallable) throw this.#tokens.fault(others[0]!.at, 'only a function takes arguments');
  }

  /** Parses an operand. @returns undefined for anything else. */
  #operand(): Operand | undefined {
    const tokens = this.#tokens;
    const base = this.#term();
    const path: string[] = [];
    if (!base || tokens.peek().kind !== 'field') return base;
    for (let token = tokens.peek(); token.kind === 'field'; token = tokens.peek()) {
      if (token.text === '') throw tokens.fault(token.at, 'the name of a field is missing');
      path.push(token.text);
      tokens.next();
    }
    switch (base.kind) {
      case 'field':
      case 'variable':
        return { ...base, path: [...base.path, ...path] };
      case 'function':
      case 'pipeline':
        return { kind: 'chain', at: base.at, base, path };
      default:
        throw tokens.fault(base.at, 'the value has no fields');
    }
  }

  #term(): Operand | undefined {
    const tokens = this.#tokens;
    const token = tokens.peekSolid();
    const { at } = token;
    switch (token.kind) {
      case 'literal':
        tokens.next();
        return { kind: 'literal', at, value: token.value };
      case 'variable':
        tokens.next();
        return { kind: 'variable', at, slot: this.#slot(token.text, at), path: [] };
      case 'field':
        tokens.next();
        return token.text === '' ? { kind: 'dot', at } : { kind: 'field', at, path: [token.text] };
      case 'word':
        tokens.next();
        return this.#word(token.text, at);
      case '(':
        tokens.next();
        return this.#parenthesis(at);
      default:
        return undefined;
    }
  }

  #word(name: string, at: number): Operand {
    if (name === 'nil') return { kind: 'nil', at };
    if (name === 'true' || name === 'false') return { kind: 'literal', at, value: name === 'true' };
    if (!this.#hasFunction(name)) throw this.#tokens.fault(at, `unknown function ${name}`);
    return { kind: 'function', at, name };
  }

  #parenthesis(at: number): Operand {
    if (++this.#depth > MAX_DEPTH) throw this.#tokens.fault(at, `parentheses are nested deeper than ${MAX_DEPTH}`);
    const pipeline = this.#pipeline('parentheses');
    if (!this.#tokens.take(')')) throw this.#tokens.fault(at, 'the parenthesis is never closed');
    this.#depth--;
    return { kind: 'pipeline', at, pipeline };
  }
}
