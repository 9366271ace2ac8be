import {
  type Data,
  type DataObject,
  type Infer,
  isObject,
  joinPointer,
  type Schema,
  type Site,
  setKey,
} from '#contract';
import { replaceLiteral } from '../../shared/values/replace-literal.ts';

const entry = {
  type: 'object',
  required: ['find', 'replace'],
  properties: {
    find: { type: 'string', minLength: 1, description: 'Text or regular expression (RE2) to find.' },
    replace: { type: 'string', description: 'Replacement text. With `regexp`, `$1` inserts a group.' },
    regexp: { type: 'boolean', description: 'Treats `find` as a regular expression.', default: false },
  },
} as const;

export const schema = {
  type: 'object',
  description: 'Replacements of `content-replacer`, by dotted path of the response field.',
  minProperties: 1,
  values: {
    anyOf: [entry, { type: 'string', description: 'Comment. Fields whose names start with `@` are ignored.' }],
  },
} as const satisfies Schema;

export type ContentReplacerConfig = Infer<typeof schema>;

/** Returns a copy of the data with texts replaced. @throws PatternLimit for a text that becomes too long. */
export type ReplaceContent = (data: DataObject) => DataObject;

interface Replacement {
  readonly path: readonly string[];
  readonly replace: (text: string) => string;
}

/**
 * Compiles the text replacements, applied in the configured order.
 * @param pointer to its settings.
 * @throws ConfigError CONTENT_REPLACER_ENTRY, PATTERN_INVALID.
 */
export function contentReplacer(site: Site<unknown>, config: ContentReplacerConfig, pointer: string): ReplaceContent {
  const replacements: Replacement[] = [];
  for (const [path, written] of Object.entries(config)) {
    const at = joinPointer(pointer, path);
    if (typeof written === 'string') {
      if (path.startsWith('@')) continue;
      throw site.fault('CONTENT_REPLACER_ENTRY', at, `the replacement for "${path}" is missing`, {
        hint: `"${path}": {"find": "a", "replace": "b"}`,
      });
    }
    const { find, replace, regexp } = written;
    const replaced = regexp ? site.pattern(find, `${at}/find`).replacer(replace) : replaceLiteral(find, replace);
    replacements.push({ path: path.split('.'), replace: replaced });
  }
  return (data) => replacements.reduce((current, { path, replace }) => replaceAt(current, path, 0, replace), data);
}

/** Copies only the path to a text that changes. */
function replaceAt(
  object: DataObject,
  path: readonly string[],
  at: number,
  replace: (text: string) => string,
): DataObject {
  const key = path[at]!;
  if (!Object.hasOwn(object, key)) return object;
  const value = object[key]!;
  const changed = changedValue(value, path, at + 1, replace);
  if (changed === value) return object;
  const copy: DataObject = {};
  for (const [name, each] of Object.entries(object)) setKey(copy, name, name === key ? changed : each);
  return copy;
}

function changedValue(value: Data, path: readonly string[], at: number, replace: (text: string) => string): Data {
  if (at < path.length) return isObject(value) ? replaceAt(value, path, at, replace) : value;
  return typeof value === 'string' ? replace(value) : value;
}
