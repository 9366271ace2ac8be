import { type Data, type DataObject, isObject } from '#contract';
import type { Findings, Path } from './findings.ts';
import type { Run, SchemaNode, SchemaReader, UnevaluatedRules } from './node.ts';

export function readUnevaluated(reader: SchemaReader): UnevaluatedRules | null {
  const one = (keyword: string) => (reader.get(keyword) === undefined ? null : reader.child(keyword));
  const items = one('unevaluatedItems');
  const properties = one('unevaluatedProperties');
  return items || properties ? { items, properties } : null;
}

/** @param findings of the schema's other keywords for the same value, which contain the evaluated parts. */
export function checkUnevaluated(
  { items, properties }: UnevaluatedRules,
  value: Data,
  path: Path | null,
  findings: Findings,
  run: Run,
): void {
  if (Array.isArray(value)) {
    if (items !== null) checkItems(items, value, path, findings, run);
  } else if (isObject(value) && properties !== null) checkProperties(properties, value, path, findings, run);
}

function checkItems(schema: SchemaNode, items: readonly Data[], path: Path | null, findings: Findings, run: Run): void {
  const evaluated = findings.evaluated(items);
  if (evaluated.all) return;
  for (let key = evaluated.items; key < items.length; key += 1) {
    if (evaluated.keys.has(key)) continue;
    if (schema.pass === false) {
      findings.add(path, 'No unevaluated items allowed on array');
      return;
    }
    run.evaluate(schema, items[key]!, { parent: path, key }, findings, run);
  }
  evaluated.all = true;
}

function checkProperties(schema: SchemaNode, value: DataObject, path: Path | null, findings: Findings, run: Run): void {
  const evaluated = findings.evaluated(value);
  if (evaluated.all) return;
  for (const key of Object.keys(value)) {
    if (evaluated.keys.has(key)) continue;
    if (schema.pass === false) findings.add(path, `Unevaluated property ${key} is not allowed`);
    else run.evaluate(schema, value[key]!, { parent: path, key }, findings, run);
  }
  evaluated.all = true;
}
