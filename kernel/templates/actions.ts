import { Failure } from './budget.ts';
import { type Compilation, compilePipeline, type Evaluate } from './expressions.ts';
import { output } from './print/print.ts';
import type { Run } from './run.ts';
import type { Source } from './source.ts';
import type { Branch, Definition, Node, Range } from './syntax/nodes.ts';
import { describe, integerOf, isList, isMap, isTrue, sortedKeys, type Value, valueAt } from './value.ts';

/** The way in which the execution of a list of nodes ends: at its end, or with `{{break}}` or `{{continue}}`. */
type Ending = typeof NEXT | typeof BREAK | typeof CONTINUE;

const NEXT = 0;
const BREAK = 1;
const CONTINUE = 2;

/** Executes a part of a template. */
type Execute = (run: Run, dot: Value) => Ending;

/** A template that others can call. */
export interface Compiled {
  readonly source: Source;
  /** Number of variables of the template. */
  readonly slots: number;
  readonly execute: Execute;
}

/** The templates of a set by name; a template may call one that is compiled later. */
export type TemplateSet = ReadonlyMap<string, Compiled>;

export function compileDefinition({ nodes, slots }: Definition, within: Compilation, set: TemplateSet): Compiled {
  return { source: within.source, slots, execute: new Actions(within, set).list(nodes) };
}

/** Executes a compiled template. */
export function execute({ source, slots, execute: body }: Compiled, run: Run, dot: Value): void {
  run.source = source;
  run.slots = newSlots(slots, dot);
  body(run, dot);
}

function newSlots(count: number, dot: Value): Value[] {
  const slots = new Array<Value>(count);
  slots[0] = dot;
  return slots;
}

class Actions {
  readonly #within: Compilation;
  readonly #set: TemplateSet;

  constructor(within: Compilation, set: TemplateSet) {
    this.#within = within;
    this.#set = set;
  }

  list(nodes: readonly Node[]): Execute {
    const steps = nodes.map((node) => this.#node(node));
    const [only] = steps;
    if (steps.length === 0) return () => NEXT;
    if (steps.length === 1) return only!;
    return (run, dot) => {
      for (const step of steps) {
        const ending = step(run, dot);
        if (ending !== NEXT) return ending;
      }
      return NEXT;
    };
  }

  #node(node: Node): Execute {
    switch (node.kind) {
      case 'text': {
        const { text, at } = node;
        return (run) => {
          run.write(text, at, true);
          return NEXT;
        };
      }
      case 'action':
        return this.#action(node.at, compilePipeline(node.pipeline, this.#within), node.pipeline.variables.length > 0);
      case 'if':
      case 'with':
        return this.#branch(node);
      case 'range':
        return this.#range(node);
      case 'template':
        return this.#template(node.name, node.at, node.pipeline && compilePipeline(node.pipeline, this.#within));
      case 'break':
        return () => BREAK;
      case 'continue':
        return () => CONTINUE;
    }
  }

  /** @param isSilent whether the action only sets a variable, and prints nothing. */
  #action(at: number, evaluate: Evaluate, isSilent: boolean): Execute {
    return (run, dot) => {
      run.at = at;
      run.budget.spend(1);
      if (run.marks) run.beginAction();
      const value = evaluate(run, dot);
      if (!isSilent) run.write(output(value, run), at, false);
      return NEXT;
    };
  }

  #branch({ kind, at, pipeline, body, otherwise }: Branch): Execute {
    const evaluate = compilePipeline(pipeline, this.#within);
    const isTrueBody = this.list(body);
    const isFalseBody = this.list(otherwise);
    const isWith = kind === 'with';
    return (run, dot) => {
      run.at = at;
      run.budget.spend(1);
      const value = evaluate(run, dot);
      return isTrue(value) ? isTrueBody(run, isWith ? value : dot) : isFalseBody(run, dot);
    };
  }

  #range({ at, pipeline, body, otherwise }: Range): Execute {
    const evaluate = compilePipeline(pipeline, this.#within, false);
    const eachBody = this.list(body);
    const emptyBody = this.list(otherwise);
    const [first, second] = pipeline.variables;
    const [keySlot, valueSlot] = second === undefined ? [undefined, first] : [first, second];
    return (run, dot) => {
      run.at = at;
      const values = evaluate(run, dot);
      run.at = at;
      let isEmpty = true;
      for (const [key, value] of entriesOf(values)) {
        isEmpty = false;
        run.budget.spend(1);
        if (keySlot !== undefined) run.slots[keySlot] = key;
        if (valueSlot !== undefined) run.slots[valueSlot] = value;
        if (eachBody(run, value) === BREAK) break;
      }
      return isEmpty ? emptyBody(run, dot) : NEXT;
    };
  }

  #template(name: string, at: number, evaluate: Evaluate | null): Execute {
    const set = this.#set;
    return (run, dot) => {
      run.at = at;
      run.budget.spend(1);
      const value = evaluate?.(run, dot);
      run.at = at;
      const target = set.get(name);
      if (!target) throw new Failure(`template ${JSON.stringify(name)} does not exist`);
      const { source, slots, execute: body } = target;
      run.call(source, newSlots(slots, value), at, () => void body(run, value));
      return NEXT;
    };
  }
}

/** Entries that a range iterates over: items of a list, values of a map in key order, the integers below a number. */
function* entriesOf(values: Value): Iterable<readonly [key: Value, value: Value]> {
  if (isList(values)) {
    for (let index = 0; index < values.length; index++) yield [BigInt(index), values[index]];
    return;
  }
  const integer = integerOf(values) ?? (Number.isSafeInteger(values) ? BigInt(values as number) : undefined);
  if (integer !== undefined) {
    for (let index = 0n; index < integer; index++) yield [index, index];
    return;
  }
  if (isMap(values)) {
    for (const key of sortedKeys(values)) yield [key, valueAt(values, key)];
    return;
  }
  if (values !== undefined && values !== null) throw new Failure(`range cannot iterate over ${describe(values)}`);
}
