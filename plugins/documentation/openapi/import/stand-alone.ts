import { type Data, type DataObject, isObject, parsePointer, setKey } from '#contract';
import { mapSchemas } from '../export/schema-walk.ts';
import type { Resolver } from './resolver.ts';

/** Keywords specific to OpenAPI documents. */
const DESCRIBING = [
  'example',
  'discriminator',
  'xml',
  'externalDocs',
  'readOnly',
  'writeOnly',
  'deprecated',
  'nullable',
];

/** Converts a schema of a document to a self-contained JSON Schema of draft 07, with the referenced schemas among its definitions. */
export function standAlone(schema: Data, { document }: Resolver): Data {
  const definitions: DataObject = {};
  const names = new Map<string, string>();
  /** Translations that are postponed: chains of references could exceed the stack. */
  const waiting: (() => void)[] = [];

  const nameOf = (reference: string): string => {
    const known = names.get(reference);
    if (known !== undefined) return known;
    const wished = (parsePointer(reference.slice(1)).at(-1) ?? 'Schema').replace(/[^\w.-]+/g, '_');
    let name = wished;
    for (let count = 2; Object.hasOwn(definitions, name); count++) name = `${wished}_${count}`;
    names.set(reference, name);
    setKey(definitions, name, {});
    waiting.push(() => setKey(definitions, name, translate(lookUp(reference))));
    return name;
  };
  const lookUp = (reference: string): Data => {
    const target = parsePointer(reference.slice(1)).reduce<Data | undefined>((value, step) => {
      if (Array.isArray(value)) return value[Number(step)];
      return isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
    }, document);
    return target ?? true;
  };
  const translate = (each: Data): Data => {
    if (!isObject(each)) return each;
    const { $ref: reference } = each;
    if (typeof reference === 'string') {
      return reference.startsWith('#') ? { $ref: `#/definitions/${nameOf(reference)}` } : {};
    }
    return toDraft07(mapSchemas(each, translate));
  };

  const translated = translate(schema);
  for (let next = waiting.pop(); next; next = waiting.pop()) next();
  if (!isObject(translated) || Object.keys(definitions).length === 0) return translated;
  // A reference at the root is wrapped, because `$ref` would hide the definitions next to it.
  const root = '$ref' in translated ? { allOf: [translated] } : translated;
  return { ...root, definitions };
}

function toDraft07(schema: DataObject): DataObject {
  const plain: DataObject = { ...schema };
  const { type, enum: values } = schema;
  if (schema['nullable'] === true) {
    if (type !== undefined) plain['type'] = [...new Set([...[type].flat(), 'null'])] as Data[];
    if (Array.isArray(values) && !values.includes(null)) plain['enum'] = [...values, null];
  }
  for (const [exclusive, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof schema[exclusive] !== 'boolean') continue;
    delete plain[exclusive];
    if (!schema[exclusive] || schema[bound] === undefined) continue;
    plain[exclusive] = schema[bound];
    delete plain[bound];
  }
  if (Array.isArray(schema['prefixItems'])) {
    plain['items'] = schema['prefixItems'];
    delete plain['prefixItems'];
  }
  for (const keyword of Object.keys(plain)) {
    if (DESCRIBING.includes(keyword) || keyword.startsWith('x-')) delete plain[keyword];
  }
  return plain;
}
