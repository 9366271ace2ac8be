import { type Data, type DataObject, isObject, printJson } from '#contract';
import { setKey } from '../../values/data.ts';
import { step } from '../checks/differences.ts';

/** Maximum nesting depth for which the order of items and keys is compared. */
const MAX_DEPTH = 100;

/** Two values whose items and keys are in the same order, so that only other differences remain. */
interface Ordered {
  /** The new value; arrays that have the same items as the old ones are in the order of the old ones. */
  readonly next: Data;
  /** Paths of arrays, as `tags[]`, and of objects, as `user{}`, whose items or keys have another order. */
  readonly paths: ReadonlySet<string>;
}

/** Finds arrays with the same items in another order, and objects with the same keys in another order. */
export function compareOrder(old: Data, next: Data): Ordered {
  const paths = new Set<string>();
  return { next: align(old, next, { path: '', depth: MAX_DEPTH, paths }), paths };
}

interface Place {
  readonly path: string;
  readonly depth: number;
  readonly paths: Set<string>;
}

function align(old: Data, next: Data, place: Place): Data {
  if (place.depth === 0) return next;
  if (Array.isArray(old) && Array.isArray(next)) return alignItems(old, next, place);
  return isPlain(old) && isPlain(next) ? alignKeys(old, next, place) : next;
}

function alignItems(old: Data[], next: Data[], { path, depth, paths }: Place): Data {
  const inner = { path: `${path}[]`, depth: depth - 1, paths };
  const isMoved =
    old.length === next.length &&
    old.some((item, at) => sorted(item, depth) !== sorted(next[at]!, depth)) &&
    sorted(old, depth) === sorted(next, depth);
  if (!isMoved) return next.map((item, at) => (at < old.length ? align(old[at]!, item, inner) : item));
  paths.add(inner.path);
  return old;
}

function alignKeys(old: DataObject, next: DataObject, { path, depth, paths }: Place): Data {
  const common = Object.keys(old).filter((key) => Object.hasOwn(next, key));
  const kept = Object.keys(next).filter((key) => Object.hasOwn(old, key));
  if (common.some((key, at) => key !== kept[at])) paths.add(`${path}{}`);
  const aligned: DataObject = {};
  for (const key of Object.keys(next)) {
    const inner = { path: step(path, key), depth: depth - 1, paths };
    setKey(aligned, key, Object.hasOwn(old, key) ? align(old[key]!, next[key]!, inner) : next[key]!);
  }
  return aligned;
}

/** A number that JavaScript would change is an object that contains its digits. */
function isPlain(value: Data): value is DataObject {
  return isObject(value) && !JSON.isRawJSON(value);
}

/** Prints data with sorted arrays and keys, so that two values print equally if only the order differs. */
function sorted(data: Data, depth: number): string {
  if (depth === 0 || typeof data !== 'object' || data === null || JSON.isRawJSON(data)) return printJson(data);
  if (Array.isArray(data)) return `[${data.map((item) => sorted(item, depth - 1)).sort()}]`;
  const object = data as DataObject;
  const pairs = Object.keys(object).map((key) => `${JSON.stringify(key)}:${sorted(object[key]!, depth - 1)}`);
  return `{${pairs.sort()}}`;
}
