import { type Data, type DataObject, getKey, hasKeys, isObject, nearest, setKey } from '#contract';
import { compareNumbers, isNumeric } from '../../../shared/values/exact-values.ts';
import { checkArgument, functions } from './functions.ts';
import { JmespathError } from './jmespath-error.ts';
import type { Node, Token } from './parse.ts';
import type { Evaluate, Run } from './run.ts';
import { sliced } from './slice.ts';

type NodeOf<T extends Node['type']> = Extract<Node, { readonly type: T }>;

/** Maximum nesting depth of an expression. */
const MAX_DEPTH = 500;

const identity: Evaluate = (value) => value;

/** Compiles the tree of an expression to functions. */
export class Compiler {
  /** Whether the result may contain the same object twice. */
  shares = false;
  /** Whether the result may contain an object of the expression itself. */
  holdsObjects = false;
  readonly #tokens: readonly Token[];
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  /** @throws JmespathError for syntax outside of the standard, and for invalid function calls. */
  compile(node: Node): Evaluate {
    if (++this.#depth > MAX_DEPTH) throw new JmespathError('the expression is nested too deeply');
    const evaluate = this.#compile(node);
    this.#depth--;
    return evaluate;
  }

  #compile(node: Node): Evaluate {
    switch (node.type) {
      case 'Identity':
      case 'Current':
        return identity;
      case 'Field':
        return field(node.name);
      case 'Literal':
        this.holdsObjects ||= typeof node.value === 'object' && node.value !== null;
        return () => node.value;
      case 'Index':
        return index(node.value);
      case 'Slice':
        return sliced(node);
      case 'Subexpression':
        return notNull(this.compile(node.left), this.compile(node.right));
      case 'IndexExpression':
      case 'Pipe':
        return chained(this.compile(node.left), this.compile(node.right));
      case 'Projection':
        return projected(this.compile(node.left), this.compile(node.right), listOf);
      case 'ValueProjection':
        return projected(this.compile(node.left), this.compile(node.right), valuesOf);
      case 'FilterProjection':
        return this.#filter(node);
      case 'Flatten':
        return flattened(this.compile(node.child));
      case 'MultiSelectList':
        return this.#list(node);
      case 'MultiSelectHash':
        return this.#hash(node);
      case 'OrExpression':
        return either(this.compile(node.left), this.compile(node.right), true);
      case 'AndExpression':
        return either(this.compile(node.left), this.compile(node.right), false);
      case 'NotExpression':
        return negated(this.compile(node.child));
      case 'Comparator':
        return compared(this.compile(node.left), this.compile(node.right), comparisons[node.name]);
      case 'Function':
        return this.#call(node);
      default:
        throw new JmespathError(strayOf(node.type));
    }
  }

  #filter({ left, condition, right }: NodeOf<'FilterProjection'>): Evaluate {
    const passes = this.compile(condition);
    const project = this.compile(right);
    const inner: Evaluate = (item, run) => (isTrue(passes(item, run)) ? project(item, run) : null);
    return projected(this.compile(left), inner, listOf);
  }

  #list({ children }: NodeOf<'MultiSelectList'>): Evaluate {
    this.shares = true;
    const parts = children.map((child) => this.compile(child));
    return (value, run) => (value === null ? null : parts.map((part) => part(value, run)));
  }

  #hash({ children }: NodeOf<'MultiSelectHash'>): Evaluate {
    this.shares = true;
    const parts = children.map(({ name, value }) => [name, this.compile(value)] as const);
    return (value, run) => {
      if (value === null) return null;
      const object: DataObject = {};
      for (const [name, part] of parts) setKey(object, name, part(value, run));
      return object;
    };
  }

  #call({ name, children }: NodeOf<'Function'>): Evaluate {
    const definition = functions.get(name);
    if (!definition) {
      const near = nearest(name, [...functions.keys()]);
      throw this.#issueIn(name, `unknown function ${name}()`, near && `did you mean ${near}()?`);
    }
    const { takes, isVariadic, call } = definition;
    if (isVariadic ? children.length < takes.length : children.length !== takes.length) {
      const wanted = `${takes.length}${isVariadic ? ' or more' : ''} argument${takes.length === 1 && !isVariadic ? '' : 's'}`;
      throw this.#issueIn(name, `${name}() requires ${wanted}, not ${children.length}`);
    }
    let key = identity;
    const values: { readonly kinds: (typeof takes)[number]; readonly evaluate: Evaluate }[] = [];
    for (const [at, child] of children.entries()) {
      const kinds = takes[Math.min(at, takes.length - 1)]!;
      const isExpression = child.type === 'ExpressionReference';
      if (kinds.includes('expression') !== isExpression) {
        const what = isExpression ? 'does not accept an expression' : 'requires an expression, as in &name,';
        throw this.#issueIn(name, `${name}() ${what} as argument ${at + 1}`);
      }
      if (isExpression) key = this.compile(child.child);
      else values.push({ kinds, evaluate: this.compile(child) });
    }
    return (value, run) => {
      const args = values.map(({ kinds, evaluate }) => {
        const arg = evaluate(value, run);
        run.spendOn(arg);
        checkArgument(name, kinds, arg);
        return arg;
      });
      return call(args, key, run);
    };
  }

  #issueIn(name: string, message: string, hint?: string): JmespathError {
    const at = this.#tokens.findIndex(
      ({ type, value }, place) =>
        type === 'UnquotedIdentifier' && value === name && this.#tokens[place + 1]?.type === 'Lparen',
    );
    const start = this.#tokens[at]?.start;
    return new JmespathError(message, {
      ...(hint && { hint }),
      ...(start !== undefined && { within: { start, end: start + name.length } }),
    });
  }
}

/** Returns why a node is not allowed in a position. */
function strayOf(type: Node['type']): string {
  if (type === 'ExpressionReference') return 'an expression with & can only be an argument of a function';
  return 'calculations, variables and conditions are not part of JMESPath';
}

function field(name: string): Evaluate {
  return (value) => (isObject(value) ? (getKey(value, name) ?? null) : null);
}

function index(at: number): Evaluate {
  return (value) => (Array.isArray(value) ? (value.at(at) ?? null) : null);
}

function chained(left: Evaluate, right: Evaluate): Evaluate {
  return (value, run) => right(left(value, run), run);
}

function notNull(left: Evaluate, right: Evaluate): Evaluate {
  return (value, run) => {
    const result = left(value, run);
    return result === null ? null : right(result, run);
  };
}

function listOf(value: Data): readonly Data[] | null {
  return Array.isArray(value) ? value : null;
}

function valuesOf(value: Data): readonly Data[] | null {
  return isObject(value) ? Object.values(value) : null;
}

/** Applies the right side to each item of the left, and drops null results. */
function projected(left: Evaluate, right: Evaluate, itemsOf: typeof listOf): Evaluate {
  return (value, run) => {
    const items = itemsOf(left(value, run));
    if (items === null) return null;
    run.spend(items.length);
    if (right === identity) return items.filter((item) => item !== null);
    const results: Data[] = [];
    for (const item of items) {
      const result = right(item, run);
      if (result !== null) results.push(result);
    }
    return results;
  };
}

function flattened(inner: Evaluate): Evaluate {
  return (value, run) => {
    const items = inner(value, run);
    if (!Array.isArray(items)) return null;
    let length = 0;
    for (const item of items) length += Array.isArray(item) ? item.length : 1;
    run.spend(length);
    return items.flat() as Data[];
  };
}

/** @param until the truth value of the left side for which the left side is the result. */
function either(left: Evaluate, right: Evaluate, until: boolean): Evaluate {
  return (value, run) => {
    const result = left(value, run);
    return isTrue(result) === until ? result : right(value, run);
  };
}

function negated(inner: Evaluate): Evaluate {
  return (value, run) => !isTrue(inner(value, run));
}

/** Empty texts, arrays and objects are false, as are false and null; zero is true. */
function isTrue(value: Data): boolean {
  if (value === null || value === false || value === '') return false;
  if (Array.isArray(value)) return value.length > 0;
  return !isObject(value) || hasKeys(value);
}

type Compare = (a: Data, b: Data, run: Run) => boolean | null;

function compared(left: Evaluate, right: Evaluate, compare: Compare): Evaluate {
  return (value, run: Run) => compare(left(value, run), right(value, run), run);
}

/** Only numbers can be ordered: any other comparison results in null. */
function ordered(holds: (sign: number) => boolean): Compare {
  return (a, b) => (isNumeric(a) && isNumeric(b) ? holds(compareNumbers(a, b)) : null);
}

const comparisons: { readonly [name in NodeOf<'Comparator'>['name']]: Compare } = {
  EQ: (a, b, run) => run.areEqual(a, b),
  NE: (a, b, run) => !run.areEqual(a, b),
  GT: ordered((sign) => sign > 0),
  GTE: ordered((sign) => sign >= 0),
  LT: ordered((sign) => sign < 0),
  LTE: ordered((sign) => sign <= 0),
};
