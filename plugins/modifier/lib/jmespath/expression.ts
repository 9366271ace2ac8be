import { CallError, type Data, type DataObject, isObject, setKey } from '#contract';
import { Compiler } from './evaluate.ts';
import { parse } from './parse.ts';
import { Run } from './run.ts';

/** An expression of JMESPath, compiled. */
export interface Expression {
  /**
   * What it gives for a value, which it does not change. Objects of the value may be part of the result; no object is there
   * twice.
   * @throws CallError JMESPATH_TYPE for a function that is given something else than it takes, JMESPATH_LIMIT.
   */
  search(value: Data): Data;
}

/**
 * Compiles an expression of standard JMESPath. It reads own keys of data and nothing else; numbers keep their digits.
 *
 * @throws JmespathMistake
 */
export function compileExpression(source: string): Expression {
  const { tree, tokens } = parse(source);
  const compiler = new Compiler(tokens);
  const evaluate = compiler.compile(tree);
  const { shares, holdsObjects } = compiler;
  return {
    search(value) {
      const run = new Run();
      try {
        const result = evaluate(value, run);
        // What stands inside may be changed by whoever gets it, and must not be there twice.
        return holdsObjects || (shares && isTwice(result, new Seen(), run)) ? copy(result, run) : result;
      } catch (error) {
        if (error instanceof RangeError) throw new CallError('JMESPATH_LIMIT', 'the data is nested too deeply');
        throw error;
      }
    },
  };
}

/** Objects up to which a list is searched faster than a set is made. */
const FEW = 32;

/** The objects that a walk has come past. */
class Seen {
  readonly #list: object[] = [];
  #set: Set<object> | null = null;

  /** @returns true for one that was there. */
  add(object: object): boolean {
    if (this.#set ? this.#set.has(object) : this.#list.includes(object)) return true;
    if (this.#set) this.#set.add(object);
    else if (this.#list.push(object) === FEW) this.#set = new Set(this.#list);
    return false;
  }
}

/** True where an object stands in a value more than once. */
function isTwice(value: Data, seen: Seen, run: Run): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (seen.add(value)) return true;
  if (Array.isArray(value)) {
    run.spend(value.length);
    for (const item of value) if (typeof item === 'object' && isTwice(item, seen, run)) return true;
    return false;
  }
  for (const key in value) {
    run.spend(1);
    const member = (value as DataObject)[key];
    if (typeof member === 'object' && isTwice(member, seen, run)) return true;
  }
  return false;
}

/** A deep copy that counts what it copies: the same object twice over, again and again, would grow without an end. */
function copy(value: Data, run: Run): Data {
  run.spend(1);
  if (Array.isArray(value)) return value.map((item) => copy(item, run));
  if (!isObject(value)) return value;
  const object: DataObject = {};
  for (const key of Object.keys(value)) setKey(object, key, copy(value[key]!, run));
  return object;
}
