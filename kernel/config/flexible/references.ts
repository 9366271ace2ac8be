import { ConfigError, type Data, type DataObject, isObject, setKey } from '#contract';
import { ConfigErrors } from '../../contract/internal.ts';
import { joinPointer } from '../../values/pointer.ts';

/** Access to the files that can be included. */
interface Files {
  /** Resolves a path in the file that names it. */
  readonly find: (path: string, from: string) => string;
  readonly read: (path: string) => Data;
}

/** Maximum depth of nested includes. */
const MAX_DEPTH = 50;

/**
 * Replaces every object that names a file under `key` with that file's content; its other keys are merged over it.
 * Values that begin with `#` or are URLs are not file names. Included files are processed in turn.
 * @param file the file that contains the data.
 * @throws ConfigErrors with the position of each unreadable file, and for circular includes.
 */
export function includeFiles(
  data: Data,
  key: string,
  file: string,
  { find, read }: Files,
): { readonly data: Data; readonly count: number } {
  const errors: ConfigError[] = [];
  let count = 0;
  const visit = (value: Data, pointer: string, chain: readonly string[]): Data => {
    if (Array.isArray(value)) return value.map((item, index) => visit(item, outer(pointer, index, chain), chain));
    if (!isObject(value)) return value;
    const path = Object.hasOwn(value, key) ? value[key] : undefined;
    const result: DataObject = {};
    for (const name of Object.keys(value)) {
      if (name === key && isFile(path)) continue;
      setKey(result, name, visit(value[name]!, outer(pointer, name, chain), chain));
    }
    if (!isFile(path)) return result;
    count++;
    return included(path, result, pointer, chain);
  };
  const included = (name: string, siblings: DataObject, pointer: string, chain: readonly string[]): Data => {
    const path = find(name, chain.at(-1) ?? file);
    const way = [...chain, path];
    try {
      if (chain.includes(path)) throw new Error(`circular includes: ${way.join(' > ')}`);
      if (way.length > MAX_DEPTH) throw new Error(`files include each other more than ${MAX_DEPTH} deep`);
      const content = visit(read(path), pointer, way);
      if (Object.keys(siblings).length === 0) return content;
      if (!isObject(content))
        throw new Error(`${path} does not contain an object: no other key can be used next to "${key}"`);
      return mergeObjects(content, siblings);
    } catch (error) {
      if (error instanceof ConfigErrors) throw error;
      const at = chain.length === 0 ? joinPointer(pointer, key) : pointer;
      errors.push(new ConfigError('TEMPLATE_REFERENCE', at, (error as Error).message, { cause: error }));
      return null;
    }
  };
  const result = visit(data, '', []);
  if (errors.length > 0) throw new ConfigErrors(errors);
  return { data: result, count };
}

/** Pointer of a nested value; for a value in an included file, the pointer of the include. */
function outer(pointer: string, step: string | number, chain: readonly string[]): string {
  return chain.length === 0 ? joinPointer(pointer, step) : pointer;
}

function isFile(value: Data | undefined): value is string {
  return typeof value === 'string' && value !== '' && !value.startsWith('#') && !value.includes('://');
}

/** Merges one object over another, key by key; values other than objects are replaced. */
function mergeObjects(lower: DataObject, upper: DataObject): DataObject {
  const result: DataObject = {};
  for (const key of Object.keys(lower)) setKey(result, key, lower[key]!);
  for (const key of Object.keys(upper)) {
    const [one, other] = [Object.hasOwn(result, key) ? result[key] : undefined, upper[key]!];
    setKey(result, key, isObject(one) && isObject(other) ? mergeObjects(one, other) : other);
  }
  return result;
}
