import type { Document } from '../syntax/load.ts';

/** `sluice migrate` rewrites plain files only; in a template, the changes it offers are made by hand. */
const advice: readonly (readonly [offer: string, byHand: string])[] = [
  ['sluice migrate renames it', 'rename it in the template'],
  ['sluice migrate moves it', 'move it in the template'],
  [', which sluice migrate moves', ': move it in the template'],
  [
    'sluice migrate --write brings the file to version 3',
    'set "version": 3 in the template and run sluice check again',
  ],
];

/** Adapts the text of a finding to its document: for a template, replaces offers that do not apply. */
export function advised<T extends string | undefined>(document: Document | null, text: T): T {
  const found = document?.rendering && text && advice.find(([offer]) => text.includes(offer));
  return found ? (text!.replace(found[0], found[1]) as T) : text;
}
