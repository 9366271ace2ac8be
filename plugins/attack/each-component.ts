import { type DataObject, isObject } from '#contract';

/** Visits the settings of components with some namespaces in a document. */
export function eachComponent(
  value: unknown,
  namespaces: ReadonlySet<string>,
  visit: (settings: DataObject, namespace: string) => void,
): void {
  if (Array.isArray(value)) for (const item of value) eachComponent(item, namespaces, visit);
  if (!isObject(value)) return;
  for (const [key, member] of Object.entries(value)) {
    if (isObject(member) && namespaces.has(key)) visit(member, key);
    else eachComponent(member, namespaces, visit);
  }
}
