import { createHash } from 'node:crypto';
import type { Issue } from '../../config/index.ts';
import type { Format } from './format.ts';
import { printSarif, sarifLocation } from './sarif-log.ts';

/** SARIF 2.1.0, for code scanning. */
export const sarif: Format = {
  isForPeople: false,
  print({ file, errors, warnings }) {
    const issues = [...errors, ...warnings];
    const codes = [...new Set(issues.map(({ code }) => code))].sort();
    const seen = new Map<string, number>();
    return printSarif({
      tool: 'Sluice',
      rules: codes.map(ruleOf),
      results: issues.map((issue) => resultOf(issue, file, codes.indexOf(issue.code), seen)),
    });
  },
};

function ruleOf(code: string): object {
  const words = code.toLowerCase().replaceAll('_', ' ');
  const description = { text: `${words[0]!.toUpperCase()}${words.slice(1)}` };
  return { id: code, shortDescription: description, fullDescription: description, help: description };
}

function resultOf(issue: Issue, file: string, ruleIndex: number, seen: Map<string, number>): object {
  const { code, severity, namespace, pointer, message, value, hint, related = [] } = issue;
  return {
    ruleId: code,
    ruleIndex,
    level: severity,
    message: { text: hint === undefined ? message : `${message}\nhint: ${hint}` },
    locations: [sarifLocation({ file, ...issue })],
    ...(related.length > 0 && {
      relatedLocations: related.map((place, id) => ({
        id,
        message: { text: place.message ?? `see also ${place.pointer}` },
        ...sarifLocation({ file, ...place }),
      })),
    }),
    partialFingerprints: { primaryLocationLineHash: fingerprint(`${code}\n${pointer}`, seen) },
    properties: { namespace, ...(value !== undefined && { value }), ...(hint !== undefined && { hint }) },
  };
}

/** The same for the same mistake wherever its line has moved to; counted where it is found more than once. */
function fingerprint(subject: string, seen: Map<string, number>): string {
  const count = (seen.get(subject) ?? 0) + 1;
  seen.set(subject, count);
  return `${createHash('sha256').update(subject).digest('hex').slice(0, 16)}:${count}`;
}
