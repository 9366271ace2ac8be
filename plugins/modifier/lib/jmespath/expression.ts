import { CallError, type Data, type DataObject, isObject, setKey } from '#contract';
import { Compiler } from './evaluate.ts';
import { parse } from './parse.ts';
import { Run } from './run.ts';

/** A compiled JMESPath expression. */
export interface Expression {
  /**
   * Evaluates the expression for a value, without changing it. The result may share objects with the value, but
   * contains no object twice.
   * @throws CallError JMESPATH_TYPE for a function argument of the wrong type, JMESPATH_LIMIT.
   */
  search(value: Data): Data;
}

/**
 * Compiles an expression of standard JMESPath. Expressions read only own keys of data; numbers keep their digits.
 *
 * @throws JmespathError
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
        // The result is copied, because the caller may change it: it must contain no object of the expression, and no
        // object twice.
        return holdsObjects || (shares && isTwice(result, new Seen(), run)) ? copy(result, run) : result;
      } catch (error) {
        if (error instanceof RangeError) throw new CallError('JMESPATH_LIMIT', 'the data is nested too deeply');
        throw error;
      }
    },
  };
}

/** Number of objects up to which searching a list is faster than creating a set. */
const FEW = 32;

/** Objects that a traversal has visited. */
class Seen {
  readonly #list: object[] = [];
  #set: Set<object> | null = null;

  /** @returns true if the object was already visited. */
  add(object: object): boolean {
    if (this.#set ? this.#set.has(object) : this.#list.includes(object)) return true;
    if (this.#set) this.#set.add(object);
    else if (this.#list.push(object) === FEW) this.#set = new Set(this.#list);
    return false;
  }
}

/** Returns whether a value contains an object more than once. */
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

/** Creates a deep copy and counts the copied values: repeated sharing would make the result grow exponentially. */
function copy(value: Data, run: Run): Data {
  run.spend(1);
  if (Array.isArray(value)) return value.map((item) => copy(item, run));
  if (!isObject(value)) return value;
  const object: DataObject = {};
  for (const key of Object.keys(value)) setKey(object, key, copy(value[key]!, run));
  return object;
}
