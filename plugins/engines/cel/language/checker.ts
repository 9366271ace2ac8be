import { nearest } from '#contract';
import { CelError } from './cel-error.ts';
import { type Library, resultOf } from './signatures.ts';
import { dottedName, type Expr, type Syntax, textOf } from './syntax.ts';
import { type CelType, comparable, isList, isMap, joined, listOf, mapOf, typeName } from './types.ts';

/** Type and properties of a part of an expression that are known before evaluation. */
interface Known {
  readonly type: CelType;
  /** Whether the value is independent of the request. */
  readonly constant: boolean;
}

/** A literal key looked up in a variable, as in `req_headers['X-Team']`. */
export interface NamedKey {
  readonly variable: string;
  readonly key: string;
}

/** Result of checking an expression. */
export interface Checked {
  readonly type: CelType;
  /** Variables that the expression reads. */
  readonly reads: ReadonlySet<string>;
  readonly keys: readonly NamedKey[];
  /** Functions and methods that the expression calls, including operators. */
  readonly calls: ReadonlySet<string>;
  /** Strings used as regular expressions. */
  readonly patterns: readonly string[];
}

const typeNames = new Set(['bool', 'int', 'uint', 'double', 'string', 'bytes', 'list', 'map', 'null_type', 'type']);

/** Types that are protocol buffer messages. */
const messageTypes = new Set(['google.protobuf.Timestamp', 'google.protobuf.Duration']);

const comparisons = new Set(['_==_', '_!=_']);

type Call = Extract<Expr['exprKind'], { case: 'callExpr' }>['value'];

/**
 * Finds what can never work in an expression: unknown names, operands that no operator accepts, comparisons that can
 * never be true.
 */
export class Checker {
  readonly #syntax: Syntax;
  readonly #variables: ReadonlyMap<string, CelType>;
  readonly #library: Library;
  readonly #calls = new Set<string>();
  readonly #reads = new Set<string>();
  readonly #keys: NamedKey[] = [];
  readonly #patterns: string[] = [];

  constructor(syntax: Syntax, variables: ReadonlyMap<string, CelType>, library: Library) {
    this.#syntax = syntax;
    this.#variables = variables;
    this.#library = library;
  }

  /** @throws CelError CEL_NAME, CEL_FUNCTION, CEL_TYPE, CEL_NEVER, CEL_PATTERN. */
  check(): Checked {
    const { type } = this.#visit(this.#syntax.root, new Map());
    return { type, reads: this.#reads, keys: this.#keys, calls: this.#calls, patterns: this.#patterns };
  }

  #visit(node: Expr, locals: ReadonlyMap<string, Known>): Known {
    const { case: kind, value } = node.exprKind;
    switch (kind) {
      case 'constExpr':
        return { type: constantTypes[value.constantKind.case!] ?? 'dyn', constant: true };
      case 'identExpr':
        return this.#name(node, value.name, locals);
      case 'selectExpr':
        return this.#select(node, value.operand!, value.field, value.testOnly, locals);
      case 'callExpr':
        return this.#call(node, value, locals);
      case 'listExpr': {
        const members = value.elements.map((element) => this.#visit(element, locals));
        return { type: listOf(typeOfAll(members)), constant: allConstant(members) };
      }
      case 'structExpr': {
        if (value.messageName !== '') throw this.#issue(node, 'CEL_TYPE', `unknown type '${value.messageName}'`);
        const pairs = value.entries.map((entry) => [
          this.#visit(entry.keyKind.value as Expr, locals),
          this.#visit(entry.value!, locals),
        ]);
        const keys = pairs.map(([key]) => key!);
        const values = pairs.map(([, member]) => member!);
        return { type: mapOf(typeOfAll(keys), typeOfAll(values)), constant: allConstant([...keys, ...values]) };
      }
      case 'comprehensionExpr': {
        const range = this.#visit(value.iterRange!, locals);
        const item = { type: this.#memberOf(value.iterRange!, range.type), constant: range.constant };
        const start = this.#visit(value.accuInit!, locals);
        const step = this.#visit(
          value.loopStep!,
          new Map(locals).set(value.iterVar, item).set(value.accuVar, { ...start, constant: range.constant }),
        );
        const end = { type: step.type, constant: step.constant && range.constant };
        return this.#visit(value.result!, new Map(locals).set(value.accuVar, end));
      }
      default:
        throw this.#issue(node, 'CEL_SYNTAX', 'is not a valid expression');
    }
  }

  #name(node: Expr, written: string, locals: ReadonlyMap<string, Known>): Known {
    const local = locals.get(written);
    if (local) return local;
    const name = written.replace(/^\./, '');
    const type = this.#variables.get(name);
    if (type !== undefined) {
      this.#reads.add(name);
      return { type, constant: false };
    }
    if (typeNames.has(name)) return { type: 'type', constant: true };
    const near = nearest(
      name,
      [...this.#variables.keys(), ...locals.keys()].filter((known) => !known.startsWith('@')),
    );
    throw this.#issue(node, 'CEL_NAME', `unknown variable '${name}'`, near && `did you mean "${near}"?`);
  }

  #select(node: Expr, operand: Expr, field: string, isTest: boolean, locals: ReadonlyMap<string, Known>): Known {
    if (!isTest && messageTypes.has(dottedName(node) ?? '') && !locals.has('google')) {
      return { type: 'type', constant: true };
    }
    const { type, constant } = this.#visit(operand, locals);
    this.#noteKey(operand, field, locals);
    if (type !== 'dyn' && !isMap(type)) {
      throw this.#issue(node, 'CEL_TYPE', `${typeName(type)} has no field '${field}'`);
    }
    if (isTest) return { type: 'bool', constant };
    return { type: type === 'dyn' ? 'dyn' : type.value, constant };
  }

  #noteKey(operand: Expr, key: string, locals: ReadonlyMap<string, Known>): void {
    const { case: kind, value } = operand.exprKind;
    if (kind === 'identExpr' && !locals.has(value.name)) this.#keys.push({ variable: value.name, key });
  }

  #memberOf(node: Expr, type: CelType): CelType {
    if (type === 'dyn') return 'dyn';
    if (isList(type)) return type.list;
    if (isMap(type)) return type.key;
    throw this.#issue(node, 'CEL_TYPE', `${typeName(type)} has no members to iterate over`);
  }

  #call(node: Expr, { function: name, target, args }: Call, locals: ReadonlyMap<string, Known>): Known {
    const given = (target ? [target, ...args] : args).map((arg) => this.#visit(arg, locals));
    const constant = allConstant(given);
    const types = given.map(({ type }) => type);
    if (comparisons.has(name) || name === '@in') {
      this.#checkComparison(node, name, types as [CelType, CelType]);
      return { type: 'bool', constant };
    }
    if (name === '_[_]') {
      const key = textOf(args[1]!);
      if (key !== undefined) this.#noteKey(args[0]!, key, locals);
      return { type: this.#memberAt(node, types as [CelType, CelType]), constant };
    }
    if (name === '_?_:_') {
      if (types[0] !== 'bool' && types[0] !== 'dyn') throw this.#refused(node, '?:', types.slice(0, 1));
      return { type: joined(types[1]!, types[2]!), constant };
    }
    if (name === '_+_' && isList(types[0]!) && isList(types[1]!)) {
      const [left, right] = types as [{ list: CelType }, { list: CelType }];
      return { type: isEmptyList(args[0]!, locals) ? right : joined(left, right), constant };
    }
    if (name === 'matches') this.#checkPattern(args[0], given.at(-1));
    const { functions, methods } = this.#library;
    const signatures = (target ? methods : functions).get(name);
    if (!signatures) throw this.#unknown(node, name, target !== undefined);
    this.#calls.add(name);
    const type = resultOf(signatures, types);
    if (type === undefined) throw this.#refused(node, operatorOf(name), types);
    return { type, constant };
  }

  #checkComparison(node: Expr, name: string, [left, right]: [CelType, CelType]): void {
    if (name !== '@in') {
      if (comparable(left, right)) return;
      const always = name === '_==_' ? 'never true' : 'always true';
      const message = `${typeName(left)} ${operatorOf(name)} ${typeName(right)} is ${always}`;
      throw this.#issue(node, 'CEL_NEVER', message, hintFor(left, right));
    }
    if (right !== 'dyn' && !isList(right) && !isMap(right)) throw this.#refused(node, 'in', [left, right]);
    const member = right === 'dyn' ? 'dyn' : this.#memberOf(node, right);
    if (comparable(left, member)) return;
    throw this.#issue(node, 'CEL_NEVER', `${typeName(right)} never contains ${typeName(left)}`);
  }

  #memberAt(node: Expr, [holder, key]: [CelType, CelType]): CelType {
    if (holder === 'dyn') return 'dyn';
    if (isList(holder) && comparable(key, 'int')) return holder.list;
    if (isMap(holder) && comparable(key, holder.key)) return holder.value;
    throw this.#refused(node, '[]', [holder, key]);
  }

  /** A regular expression must be constant, not part of a request, because compiling it is slow. */
  #checkPattern(node: Expr | undefined, pattern: Known | undefined): void {
    if (!node || !pattern) return;
    const text = textOf(node);
    if (text !== undefined) this.#patterns.push(text);
    else if (!pattern.constant) {
      const message = 'the pattern of matches() must be a literal';
      throw this.#issue(node, 'CEL_PATTERN', message, 'contains(), startsWith() or endsWith()');
    }
  }

  #refused(node: Expr, operator: string, types: readonly CelType[]): CelError {
    const [one = 'dyn', other = one] = types;
    const message = `${operator} cannot be applied to (${types.map(typeName).join(', ')})`;
    return this.#issue(node, 'CEL_TYPE', message, hintFor(one, other));
  }

  #unknown(node: Expr, name: string, isMethod: boolean): CelError {
    const { functions, methods } = this.#library;
    const [table, other] = isMethod ? [methods, functions] : [functions, methods];
    if (other.has(name)) {
      const hint = isMethod ? `${name}(value)` : `value.${name}(…)`;
      return this.#issue(node, 'CEL_FUNCTION', `'${name}' does not accept these arguments`, hint);
    }
    const macros = ['has', 'all', 'exists', 'exists_one', 'map', 'filter'];
    const near = nearest(name, [...table.keys(), ...macros]);
    const message = macros.includes(name) ? `'${name}' has the wrong arguments` : `unknown function '${name}'`;
    return this.#issue(node, 'CEL_FUNCTION', message, near && near !== name ? `did you mean "${near}"?` : undefined);
  }

  #issue(node: Expr, code: string, message: string, hint?: string): CelError {
    return new CelError(code, message, { hint, within: this.#syntax.placeOf(node) });
  }
}

const constantTypes: Readonly<Record<string, CelType>> = {
  boolValue: 'bool',
  int64Value: 'int',
  uint64Value: 'uint',
  doubleValue: 'double',
  stringValue: 'string',
  bytesValue: 'bytes',
  nullValue: 'null',
};

function typeOfAll(members: readonly Known[]): CelType {
  return members.length === 0 ? 'dyn' : members.map(({ type }) => type).reduce(joined);
}

function allConstant(members: readonly Known[]): boolean {
  return members.every(({ constant }) => constant);
}

/** Whether the node is the empty list that a `map` or `filter` starts from. The type of its elements follows from the elements that are added. */
function isEmptyList(node: Expr, locals: ReadonlyMap<string, Known>): boolean {
  const { case: kind, value } = node.exprKind;
  return kind === 'identExpr' && value.name.startsWith('@') && locals.has(value.name);
}

/** Operator in source notation. */
function operatorOf(name: string): string {
  return name.startsWith('_') || name.endsWith('_') ? name.replaceAll('_', '') : `${name}()`;
}

function hintFor(one: CelType, other: CelType): string | undefined {
  const types = [one, other];
  if (types.includes('string') && types.includes('int')) return 'int(text) converts a string to a number';
  if (types.includes('string') && types.includes('timestamp')) return 'timestamp(text) converts a string to a time';
  if (types.some(isList)) return 'value in list, or list[0]';
  return undefined;
}
