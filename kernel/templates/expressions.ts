import { Failure } from './budget.ts';
import { fieldOf, type MissingKey, methodOf } from './fields.ts';
import type { Functions, TemplateFunction } from './function.ts';
import type { Run } from './run.ts';
import { type Source, syntaxError } from './source.ts';
import type { Command, Operand, Pipeline } from './syntax/nodes.ts';
import { isTrue, type Value } from './value.ts';

/** Evaluates a part of a template. */
export type Evaluate = (run: Run, dot: Value) => Value;

export interface Compilation {
  readonly source: Source;
  readonly functions: Functions;
  readonly missingKey: MissingKey;
}

/** Compiles a pipeline; it sets the variables that it declares, unless a range does. */
export function compilePipeline(pipeline: Pipeline, within: Compilation, setsVariables = true): Evaluate {
  const { commands, variables } = pipeline;
  let evaluate: Evaluate | undefined;
  for (const command of commands) evaluate = compileCommand(command, within, evaluate);
  const value = evaluate!;
  const [slot] = variables;
  if (slot === undefined || !setsVariables) return value;
  return (run, dot) => {
    run.slots[slot] = value(run, dot);
    return run.slots[slot];
  };
}

/** @param piped the preceding command. */
function compileCommand({ operands, at }: Command, within: Compilation, piped: Evaluate | undefined): Evaluate {
  const [first, ...rest] = operands;
  const args = rest.map((operand) => compileOperand(operand, within));
  if (piped) args.push(piped);
  if (first.kind === 'function') return compileCall(first.name, args, at, within);
  if (args.length === 0) return compileOperand(first, within);
  return compileMethod(first, args, within);
}

function compileCall(name: string, args: readonly Evaluate[], at: number, within: Compilation): Evaluate {
  const target = within.functions[name]!;
  if (target.refusal !== undefined) {
    throw syntaxError(within.source, at, `${name} is not supported: ${target.refusal}`);
  }
  demandCount(name, target, args.length, at, within);
  const lazy = lazyCalls[name];
  if (lazy) return lazy(args);
  const { call } = target;
  const [first, second] = args;
  const invoke = (run: Run, values: readonly Value[]): Value => {
    run.at = at;
    run.budget.spend(1);
    const result = call(values, run);
    if (typeof result === 'string') run.budget.claim(result.length);
    return result;
  };
  if (args.length === 1) return (run, dot) => invoke(run, [first!(run, dot)]);
  if (args.length === 2) return (run, dot) => invoke(run, [first!(run, dot), second!(run, dot)]);
  return (run, dot) => {
    const values: Value[] = [];
    for (const arg of args) values.push(arg(run, dot));
    return invoke(run, values);
  };
}

function demandCount(
  name: string,
  { fewest, most }: TemplateFunction,
  count: number,
  at: number,
  within: Compilation,
): void {
  if (count >= fewest && count <= most) return;
  const wanted =
    fewest === most
      ? String(fewest)
      : most === Number.POSITIVE_INFINITY
        ? `at least ${fewest}`
        : `${fewest} to ${most}`;
  throw syntaxError(within.source, at, `${name} takes ${wanted} argument${wanted === '1' ? '' : 's'}, found ${count}`);
}

/** `and` and `or` evaluate only as many arguments as they need. */
const lazyCalls: Readonly<Record<string, (args: readonly Evaluate[]) => Evaluate>> = {
  __proto__: null as never,
  and: (args) => firstThat(args, false),
  or: (args) => firstThat(args, true),
};

function firstThat(args: readonly Evaluate[], wanted: boolean): Evaluate {
  return (run, dot) => {
    let value: Value;
    for (const arg of args) {
      run.budget.spend(1);
      value = arg(run, dot);
      if (isTrue(value) === wanted) break;
    }
    return value;
  };
}

export function compileOperand(operand: Operand, within: Compilation): Evaluate {
  switch (operand.kind) {
    case 'literal': {
      const { value } = operand;
      return () => value;
    }
    case 'nil':
      return () => null;
    case 'dot':
      return (_run, dot) => dot;
    case 'variable': {
      const { slot, path, at } = operand;
      return compilePath((run) => run.slots[slot], path, at, within);
    }
    case 'field':
      return compilePath((_run, dot) => dot, operand.path, operand.at, within);
    case 'chain':
      return compilePath(compileOperand(operand.base, within), operand.path, operand.at, within);
    case 'function':
      return compileCall(operand.name, [], operand.at, within);
    case 'pipeline':
      return compilePipeline(operand.pipeline, within);
  }
}

function compilePath(base: Evaluate, path: readonly string[], at: number, { missingKey }: Compilation): Evaluate {
  if (path.length === 0) return base;
  const leading = path.map((_name, depth) => () => path.slice(0, depth).join('.'));
  return (run, dot) => {
    let value = base(run, dot);
    let holder = value;
    run.at = at;
    for (let depth = 0; depth < path.length; depth++) {
      holder = value;
      value = fieldOf(value, path[depth]!, missingKey, leading[depth]!);
    }
    if (run.marks) run.noteRead(holder, path.at(-1)!);
    return value;
  };
}

/** `.name` with arguments. */
function compileMethod(operand: Operand, args: readonly Evaluate[], within: Compilation): Evaluate {
  const { at } = operand;
  if (!('path' in operand)) throw syntaxError(within.source, at, 'only a function takes arguments');
  const name = operand.path.at(-1)!;
  const base = compileOperand(withoutLast(operand), within);
  return (run, dot) => {
    const value = base(run, dot);
    const values = args.map((arg) => arg(run, dot));
    run.at = at;
    run.budget.spend(1);
    if (value === undefined) throw new Failure(`unknown function ${JSON.stringify(name)}`);
    return methodOf(value, name)(values);
  };
}

function withoutLast(operand: Extract<Operand, { readonly path: readonly string[] }>): Operand {
  const path = operand.path.slice(0, -1);
  return path.length === 0 && operand.kind === 'field' ? { kind: 'dot', at: operand.at } : { ...operand, path };
}
