import { stringify } from 'yaml';
import { type Data, printJson } from '#contract';

/** A document as text, its keys in the order they have. */
export function printDocument(document: Data, isYaml: boolean): string {
  if (!isYaml) return `${JSON.stringify(document, null, 2)}\n`;
  // Exact numbers are objects to the printer of YAML.
  return stringify(JSON.parse(printJson(document)), { lineWidth: 0, aliasDuplicateObjects: false });
}
