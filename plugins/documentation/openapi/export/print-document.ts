import { stringify } from 'yaml';
import { type Data, printJson } from '#contract';

/** Formats a document as text, preserving the order of keys. */
export function printDocument(document: Data, isYaml: boolean): string {
  if (!isYaml) return `${JSON.stringify(document, null, 2)}\n`;
  // Numbers with many digits are replaced, because the YAML printer would treat them as objects.
  return stringify(JSON.parse(printJson(document)), { lineWidth: 0, aliasDuplicateObjects: false });
}
