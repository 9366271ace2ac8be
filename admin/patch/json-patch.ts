import { isDeepStrictEqual } from 'node:util';
import { copyData, type Data, type DataObject, isObject, setKey } from '#contract';
import { parsePointer } from '#kernel';

/** Error for a patch that is invalid or does not match the document it is applied to. */
export class PatchError extends Error {
  /** Index of the operation; undefined when the patch as a whole is invalid. */
  readonly index: number | undefined;
  /** True when a `test` operation failed: the patch is valid, but the document differs from what it expects. */
  readonly isTest: boolean;

  constructor(message: string, index?: number, isTest = false) {
    super(index === undefined ? message : `operation ${index}: ${message}`);
    this.index = index;
    this.isTest = isTest;
  }
}

/** Failure of a `test` operation. */
class TestFailed extends Error {}

/** Target of an operation: an entry of an object or a list. */
interface Slot {
  readonly holder: DataObject | Data[];
  readonly key: string;
}

/** Holds the document under an empty key, so that its root is an entry too. */
type Root = DataObject;

type Operate = (root: Root, operation: DataObject) => void;

const operations: Readonly<Record<string, Operate>> = {
  add: (root, operation) => add(slotOf(root, operation, 'path'), givenValue(operation)),
  remove: (root, operation) => void remove(slotOf(root, operation, 'path')),
  replace: (root, operation) => replace(slotOf(root, operation, 'path'), givenValue(operation)),
  move(root, operation) {
    const { from, path } = operation;
    if (typeof from === 'string' && String(path).startsWith(`${from}/`))
      throw new Error('a value cannot move into itself');
    const source = slotOf(root, operation, 'from');
    read(source);
    if (from === path) return;
    const value = remove(source);
    add(slotOf(root, operation, 'path'), value);
  },
  copy: (root, operation) => add(slotOf(root, operation, 'path'), copyData(read(slotOf(root, operation, 'from')))),
  test(root, operation) {
    if (!isDeepStrictEqual(read(slotOf(root, operation, 'path')), givenValue(operation))) {
      throw new TestFailed(`test failed: the value at ${String(operation['path'])} differs`);
    }
  },
};

/**
 * Applies a JSON patch (RFC 6902) atomically. The arguments are not modified; `__proto__` is an ordinary key.
 * @throws PatchError.
 */
export function jsonPatch(document: Data, patch: Data): Data {
  if (!Array.isArray(patch)) throw new PatchError('a JSON patch is a list of operations');
  const root: Root = { '': copyData(document) };
  patch.forEach((operation, index) => {
    try {
      if (!isObject(operation)) throw new Error('an operation is an object');
      const { op } = operation;
      if (typeof op !== 'string' || !Object.hasOwn(operations, op)) {
        throw new Error(`op must be one of ${Object.keys(operations).join(', ')}`);
      }
      operations[op]!(root, operation);
    } catch (error) {
      throw new PatchError((error as Error).message, index, error instanceof TestFailed);
    }
  });
  if (root[''] === undefined) throw new PatchError('the patch must not remove the whole document');
  return root[''];
}

function givenValue(operation: DataObject): Data {
  if (!Object.hasOwn(operation, 'value')) throw new Error('"value" is missing');
  return copyData(operation['value']!);
}

function slotOf(root: Root, operation: DataObject, member: 'path' | 'from'): Slot {
  const pointer = Object.hasOwn(operation, member) ? operation[member] : undefined;
  if (typeof pointer !== 'string' || !/^(?:\/(?:[^~]|~[01])*)?$/.test(pointer)) {
    throw new Error(`${member} must be a JSON pointer`);
  }
  const steps = ['', ...parsePointer(pointer)];
  const key = steps.pop()!;
  let holder: Data = root;
  for (const step of steps) holder = read({ holder: holderOf(holder, pointer), key: step });
  return { holder: holderOf(holder, pointer), key };
}

function holderOf(value: Data, pointer: string): DataObject | Data[] {
  if (isObject(value) || Array.isArray(value)) return value;
  throw new Error(`${pointer} does not exist`);
}

function read({ holder, key }: Slot): Data {
  if (Array.isArray(holder)) return holder[positionIn(holder, key, holder.length - 1)]!;
  if (!Object.hasOwn(holder, key)) throw new Error(`${JSON.stringify(key)} does not exist`);
  return holder[key]!;
}

function add({ holder, key }: Slot, value: Data): void {
  if (!Array.isArray(holder)) setKey(holder, key, value);
  else holder.splice(key === '-' ? holder.length : positionIn(holder, key, holder.length), 0, value);
}

function replace(slot: Slot, value: Data): void {
  read(slot);
  const { holder, key } = slot;
  if (Array.isArray(holder)) holder[Number(key)] = value;
  else setKey(holder, key, value);
}

function remove(slot: Slot): Data {
  const value = read(slot);
  const { holder, key } = slot;
  if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else delete holder[key];
  return value;
}

function positionIn(list: readonly Data[], key: string, last: number): number {
  const position = /^(?:0|[1-9]\d*)$/.test(key) ? Number(key) : Number.NaN;
  if (position <= last) return position;
  throw new Error(`${JSON.stringify(key)} is not a position in a list of ${list.length}`);
}
