import { cloneData } from '../../kernel/config/index.ts';
import { backendSchema, endpointSchema, serviceSchema } from '../../kernel/contract/internal.ts';
import { type Field, fieldsOf, levelsOf } from './fields.ts';
import type { Path, Printed, Range } from './printed.ts';

/** A change that makes a valid configuration invalid. */
export interface Mutation {
  /** Description of the change and its place, the same in every run. */
  readonly name: string;
  /** Computed only when it is read, because `npm test` uses one mutation in 16. */
  readonly data: unknown;
  /** Returns the range at which, or within which, the error must be reported. */
  place(text: Printed): { readonly stretch: Range; readonly exact: boolean };
}

type Data = Record<string | number, unknown>;

/** Every mutation of a good configuration. */
export function mutationsOf(document: unknown): Mutation[] {
  const fields = fieldsOf(document);
  return [
    ...fields.flatMap((field) => withoutRequired(document, field)),
    ...fields.flatMap((field) => misspelled(document, field)),
    ...components(document).flatMap((path) => [...misnamed(document, path), ...atOtherLevels(document, path)]),
    ...fields.flatMap((field) => ofOtherType(document, field)),
    ...fields.flatMap((field) => withOtherValue(document, field)),
    ...fields.flatMap((field) => outOfRange(document, field)),
    ...fields.flatMap((field) => repeated(document, field)),
    ...fields.flatMap((field) => atWrongLevel(document, field)),
    ...endpointsTwice(document),
    ...withoutHosts(document),
    ...fields.flatMap((field) => withOtherPlaceholder(document, field)),
  ];
}

/** A mutation that is reported at the key or value of a path, or inside the value. */
function mutation(
  what: string,
  document: unknown,
  change: (data: Data) => void,
  path: Path,
  segment: 'key' | 'value' | 'inside',
): Mutation {
  return {
    name: `${what} /${path.join('/')}`,
    get data() {
      const data = cloneData(document);
      change(data as Data);
      return data;
    },
    place: (text) => ({
      stretch: segment === 'key' ? text.key(path) : text.value(path),
      exact: segment !== 'inside',
    }),
  };
}

function at(data: Data, path: Path): Data {
  return path.reduce<unknown>((value, step) => (value as Data)[step], data) as Data;
}

function set(path: Path, value: unknown): (data: Data) => void {
  return (data) => {
    at(data, path.slice(0, -1))[path.at(-1)!] = value;
  };
}

/** Renames a key without changing its position. */
function rename(path: Path, name: string): (data: Data) => void {
  return (data) => {
    const holder = at(data, path.slice(0, -1));
    const entries = Object.entries(holder);
    for (const [key] of entries) delete holder[key];
    for (const [key, value] of entries) holder[key === path.at(-1) ? name : key] = value;
  };
}

function withoutRequired(document: unknown, { path, schema }: Field): Mutation[] {
  const required = 'type' in schema && schema.type === 'object' ? (schema.required ?? []) : [];
  const present = required.filter((key) => Object.hasOwn(at(document as Data, path), key));
  return present.map((key) =>
    mutation(
      `delete ${key} of`,
      document,
      (data) => {
        delete at(data, path)[key];
      },
      path,
      'value',
    ),
  );
}

/** Number of misspellings that are tried for one word. */
const SLIPS = 3;

/** Misspellings of a word: a letter missing, doubled, replaced or swapped with its neighbor, and the two usual spellings. */
function slips(word: string): string[] {
  const middle = Math.floor(word.length / 2);
  // Different misspellings for words of different lengths, so that all kinds are tried.
  const turn = word.length % 8;
  const swapped = word.slice(0, middle - 1) + word[middle] + word[middle - 1] + word.slice(middle + 1);
  const all = [
    word.slice(0, middle) + word.slice(middle + 1),
    word.slice(0, -1),
    word.slice(0, middle) + word[middle] + word.slice(middle),
    `${word.slice(0, middle)}x${word.slice(middle + 1)}`,
    `${word}s`,
    swapped,
    word.replaceAll('_', '-'),
    word.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
  ];
  const turned = [...all.slice(turn), ...all.slice(0, turn)].filter((slip) => slip !== word && slip !== '');
  return [...new Set(turned)].slice(0, SLIPS);
}

function misspelled(document: unknown, { path, holder }: Field): Mutation[] {
  if (!holder) return [];
  const key = String(path.at(-1));
  return slips(key)
    .filter((slip) => !/^[@$_#]/.test(slip) && !Object.hasOwn(holder.properties!, slip))
    .map((slip) => {
      const renamed = [...path.slice(0, -1), slip];
      return mutation(`misspell ${key} as`, document, rename(path, slip), renamed, 'key');
    });
}

/** The paths of all components. */
function components(document: unknown): Path[] {
  const results: Path[] = [];
  const visit = (holder: Data, path: Path): void => {
    for (const name of Object.keys((holder['extra_config'] ?? {}) as object))
      results.push([...path, 'extra_config', name]);
    for (const list of ['endpoints', 'backend']) {
      for (const [index, item] of ((holder[list] ?? []) as Data[]).entries()) visit(item, [...path, list, index]);
    }
  };
  visit(document as Data, []);
  return results;
}

function misnamed(document: unknown, path: Path): Mutation[] {
  const name = String(path.at(-1));
  return slips(name).map((slip) =>
    mutation(`misspell ${name} as`, document, rename(path, slip), [...path.slice(0, -1), slip], 'key'),
  );
}

const levelNames = ['service', 'endpoint', 'backend'] as const;

/** Moves a component to a place where it has no effect. */
function atOtherLevels(document: unknown, path: Path): Mutation[] {
  const name = String(path.at(-1));
  const settings = at(document as Data, path);
  const levels = levelsOf(name);
  return [[], ['endpoints', 0], ['endpoints', 0, 'backend', 0]].flatMap((holder, index) => {
    if (levels.includes(levelNames[index]!)) return [];
    const target = [...holder, 'extra_config', name];
    const change = (data: Data) => {
      const object = at(data, holder);
      object['extra_config'] = { ...(object['extra_config'] as object), [name]: settings };
    };
    return [mutation(`put /${path.join('/')} at`, document, change, target, 'key')];
  });
}

const others: Readonly<Record<string, readonly unknown[]>> = {
  string: [7, null, ['a']],
  integer: ['7', true, null, 1.5, [7]],
  number: ['7', true, null, [7]],
  boolean: ['true', 1, null],
  duration: [7, null, ['2s'], '', '5', '5 s', '2 days', 'soon', '-1s', '1m30'],
  array: ['a', null, { a: 1 }],
  object: ['a', null, ['a']],
};

/** Fields for which null means absent. */
const nullable: ReadonlySet<string> = new Set(['tls', 'client_tls']);

function ofOtherType(document: unknown, { path, value, schema }: Field): Mutation[] {
  const types =
    'anyOf' in schema ? schema.anyOf.map((choice) => ('type' in choice ? choice.type : 'any')) : [schema.type];
  if (path.length === 0 || types.includes('any')) return [];
  const wrong = others[types[0]!]!.filter((other) => !types.some((type) => fits(type, other)));
  return wrong
    .filter((other) => other !== value && !(other === null && path.length === 1 && nullable.has(String(path[0]))))
    .map((other) => mutation(`make ${JSON.stringify(other)} of`, document, set(path, other), path, 'inside'));
}

function fits(type: string, value: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return type === 'array' ? Array.isArray(value) : type === typeof value;
}

/** Fields whose values are names that only the registry or a component can validate. */
const named: ReadonlySet<string> = new Set([
  'encoding',
  'output_encoding',
  'sd',
  'strategy',
  'level',
  'log_with_level',
]);

function withOtherValue(document: unknown, { path, value, schema }: Field): Mutation[] {
  const isEnum = 'enum' in schema || (typeof value === 'string' && named.has(String(path.at(-1))));
  if (!isEnum) return [];
  const wrong = typeof value === 'string' ? [`${value}x`, 'wrong', `${value} `] : [99];
  return wrong.map((other) =>
    mutation(`write ${JSON.stringify(other)} in`, document, set(path, other), path, 'inside'),
  );
}

function outOfRange(document: unknown, { path, value, schema }: Field): Mutation[] {
  const { minimum, maximum, minItems, minLength } = schema as {
    readonly [limit in 'minimum' | 'maximum' | 'minItems' | 'minLength']?: number;
  };
  const wrong = [
    ...(minimum === undefined ? [] : [minimum - 1]),
    ...(maximum === undefined ? [] : [maximum + 1]),
    ...(minItems && Array.isArray(value) ? [[]] : []),
    ...(minLength ? [''] : []),
  ];
  return wrong.map((other) =>
    mutation(`write ${JSON.stringify(other)} in`, document, set(path, other), path, 'inside'),
  );
}

function repeated(document: unknown, { path, value, schema }: Field): Mutation[] {
  if (!('uniqueItems' in schema) || !Array.isArray(value) || value.length === 0) return [];
  const doubled = [...value, value[0]];
  return [mutation('repeat an entry of', document, set(path, doubled), [...path, value.length], 'value')];
}

const kinds = [serviceSchema, endpointSchema, backendSchema] as const;

/** Moves a core field into another kind of object. */
function atWrongLevel(document: unknown, { path, value, holder }: Field): Mutation[] {
  const own = (kinds as readonly unknown[]).indexOf(holder);
  const key = String(path.at(-1));
  if (own < 0 || key === 'endpoints' || key.startsWith('$')) return [];
  return [[], ['endpoints', 0], ['endpoints', 0, 'backend', 0]].flatMap((target, index) => {
    if (Object.hasOwn(kinds[index]!.properties, key)) return [];
    const moved = [...target, key];
    return [mutation(`put /${path.join('/')} at`, document, set(moved, value), moved, 'key')];
  });
}

function endpointsTwice(document: unknown): Mutation[] {
  const endpoints = (document as Data)['endpoints'] as Data[];
  return endpoints.map((endpoint, index) =>
    mutation(
      `repeat /endpoints/${index} at`,
      document,
      (data) => (data['endpoints'] as unknown[]).push(cloneData(endpoint)),
      ['endpoints', endpoints.length, 'endpoint'],
      'value',
    ),
  );
}

/** Removes hosts that backends need. */
function withoutHosts(document: unknown): Mutation[] {
  const endpoints = (document as Data)['endpoints'] as Data[];
  const hasDefault = Object.hasOwn(document as Data, 'host');
  return endpoints.flatMap((endpoint, index) =>
    ((endpoint['backend'] ?? []) as Data[]).flatMap((backend, position) => {
      const path = ['endpoints', index, 'backend', position];
      if (Object.hasOwn(backend, 'host') === hasDefault) return [];
      const change = (data: Data) => {
        delete (hasDefault ? data : at(data, path))['host'];
      };
      return [
        mutation(
          hasDefault ? 'take the hosts of the root from' : 'take the host from',
          document,
          change,
          path,
          'value',
        ),
      ];
    }),
  );
}

/** Renames every placeholder of a backend, so that the endpoint's path does not declare it. */
function withOtherPlaceholder(document: unknown, { path, value }: Field): Mutation[] {
  if (path.at(-1) !== 'url_pattern' || !String(value).includes('{')) return [];
  return [...String(value).matchAll(/\{([^{}]+)\}/g)].flatMap(([whole, name = '']) =>
    [`${name}x`, name.slice(1), `${name}_id`].map((other) =>
      mutation(
        `rename ${whole} to {${other}} in`,
        document,
        set(path, String(value).replace(whole, `{${other}}`)),
        path,
        'inside',
      ),
    ),
  );
}
