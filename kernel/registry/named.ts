import { type Encoding, isObject, type Namespace } from '#contract';
import { MAX_DEPTH, presentName } from '../config/index.ts';
import { backendSchema, PASSING } from '../contract/internal.ts';
import type { Registry } from './registry.ts';

const { properties: fields } = backendSchema;

/**
 * Loads every plugin that a document names, of any version and at any depth: its components, encodings and discoveries,
 * those nested in components, and those that are always present.
 */
export async function loadNamed(document: unknown, registry: Registry): Promise<void> {
  const { defaultProtocol, always = [] } = registry.catalogue;
  const names = new Set<Namespace>([
    defaultProtocol,
    ...always,
    `encoding/${fields.encoding.default}`,
    `encoding/${PASSING}`,
    `discovery/${fields.sd.default}`,
  ]);
  const encodings = { encoding: new Set<string>(), output_encoding: new Set<string>() };
  addNames(document, names, encodings);
  await registry.load([...names].map((name) => presentName(name, registry.compatibility)));
  const isRead = [...encodings.encoding].every((name) => registry.encoding(name)?.decode);
  const isWritten = [...encodings.output_encoding].every((name) => canWrite(registry.encoding(name)));
  // All encodings are loaded if one does not exist or works in only one direction, because the error lists the suitable
  // ones.
  if (!isRead || !isWritten)
    await registry.load(registry.names('encoding').map((name): Namespace => `encoding/${name}`));
}

const canWrite = (encoding: Encoding | undefined) => encoding?.raw || encoding?.encode;

/** Names of encodings, by the field that holds them. */
type Encodings = Readonly<Record<'encoding' | 'output_encoding', Set<string>>>;

/** Fields whose values are names of plugins of a family. */
const families: Readonly<Record<string, string>> = {
  encoding: 'encoding',
  output_encoding: 'encoding',
  sd: 'discovery',
};

/**
 * Also collects strings that are not names: such a string may load a plugin unnecessarily, but has no other effect.
 * Excessive nesting is rejected later.
 */
function addNames(value: unknown, names: Set<Namespace>, encodings: Encodings, depth = 0): void {
  if (depth > MAX_DEPTH) return;
  if (Array.isArray(value)) {
    for (const item of value) addNames(item, names, encodings, depth + 1);
    return;
  }
  if (!isObject(value)) return;
  for (const key in value) {
    const inner = value[key];
    if (typeof inner === 'string') {
      if (Object.hasOwn(families, key)) names.add(`${families[key]}/${inner}`);
      if (key === 'encoding' || key === 'output_encoding') encodings[key].add(inner);
      continue;
    }
    if (key === 'extra_config' && isObject(inner)) for (const name in inner) names.add(name);
    addNames(inner, names, encodings, depth + 1);
  }
}
