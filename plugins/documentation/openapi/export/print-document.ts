import { stringify } from 'yaml';
import { type Data, printJson } from '#contract';

/** Formats a document as text, preserving the order of keys. */
export function printDocument(document: Data, isYaml: boolean): string {
  if (!isYaml) return `${JSON.stringify(document, null, 2)}\n`;
  // The YAML printer would treat exact numbers as objects.
  return stringify(JSON.parse(printJson(document)), { lineWidth: 0, aliasDuplicateObjects: false });
}
