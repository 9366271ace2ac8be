import { type BackendConfig, type Data, type DataObject, type EndpointConfig, isObject, setKey } from '#contract';
import { parsePlaceholder, splitPlaceholders } from '../../pipeline/request/pattern.ts';

/**
 * Values that gateways may print differently: numbers with many digits, escaped characters, key order, empty values.
 * The names of fields that configurations often remove reveal a filter that one gateway lacks.
 */
const varied = (): DataObject => ({
  id: 7,
  name: 'sample',
  email: 'sample@example.test',
  phone: '+1 555 0100',
  address: { street: 'Main Street 1', city: 'Springfield' },
  password: 'sample',
  role: 'admin',
  created_at: '2026-01-02T03:04:05Z',
  url: '/items/7?a=1&b=2',
  active: true,
  price: 12.5,
  large: JSON.rawJSON('9007199254740993') as unknown as Data,
  nothing: null,
  text: '<b>"é" & \\ /</b>',
  tags: ['b', 'a'],
  items: [
    { id: 1, name: 'first' },
    { id: 2, name: 'second', inner: { value: [] } },
  ],
  nested: { id: 8, deep: { value: 'inner', empty: {} } },
});

/**
 * Creates a document that a backend could respond with, which has the fields that its settings and the URLs of later
 * backends name, and others.
 */
export function sampleDocument({ backend: all }: EndpointConfig, at: number): Data {
  const backend = all[at]!;
  const document = varied();
  for (const path of namedPaths(backend, all, at)) setPath(document, path.split('.'), `value of ${path}`);
  const { target, is_collection: isCollection } = backend;
  if (isCollection) return [document, varied()];
  if (!target) return document;
  const outer: DataObject = { outside: 'not in the target' };
  setPath(outer, target.split('.'), document);
  return outer;
}

/** Paths of the fields that settings name and that placeholders such as `{resp0_field}` in later URLs insert. */
function namedPaths(backend: BackendConfig, all: readonly BackendConfig[], at: number): string[] {
  const { allow = [], deny = [], mapping = {} } = backend;
  const wanted = all.flatMap(({ url_pattern: pattern }) =>
    splitPlaceholders(pattern)
      .filter((_, part) => part % 2 === 1)
      .map(parsePlaceholder)
      .flatMap((each) => (each.from === 'earlier' && each.index === at ? [each.path.join('.')] : [])),
  );
  return [...allow, ...deny, ...Object.keys(mapping), ...wanted];
}

/** Sets a field, unless the document has it. */
function setPath(document: DataObject, steps: readonly string[], value: Data): void {
  let inner = document;
  for (const step of steps.slice(0, -1)) {
    const known = Object.hasOwn(inner, step) ? inner[step]! : null;
    const next = isObject(known) && !JSON.isRawJSON(known) ? known : {};
    setKey(inner, step, next);
    inner = next;
  }
  const last = steps.at(-1)!;
  if (!Object.hasOwn(inner, last)) setKey(inner, last, value);
}
