import type { Comparison, Difference } from './differences.ts';
import { type Explanation, explanationOf, apart as separate } from './explained.ts';

/** Text of a comparison, and whether every difference and every separate file is explained. */
export interface Report {
  readonly lines: readonly string[];
  readonly isExplained: boolean;
}

/**
 * Describes the differences by object, first what is missing.
 * @param all also list what is explained, with the reasons.
 */
export function reportOf(comparison: Comparison, known: readonly Explanation[], all: boolean): Report {
  const { differences, schemas, compared, added, unread, apart } = comparison;
  const explained = new Map(differences.map((difference) => [difference, explanationOf(difference, known)]));
  const open = differences.filter((difference) => !explained.get(difference));
  const shown = all ? differences : open;
  const objects = [...new Set(shown.map(({ at }) => at))].sort();
  const lines = objects.flatMap((at) => [
    at,
    ...shown
      .filter((difference) => difference.at === at)
      .toSorted((one, other) => Number(other.kind === 'missing') - Number(one.kind === 'missing'))
      .map((difference) => `  ${lineOf(difference, explained.get(difference))}`),
  ]);
  const total = `${schemas} schemas with ${compared} fields compared, ${added} fields only here; ${differences.length} differences, ${open.length} of them without an explanation`;
  const missing = unread.length > 0 ? [`not in the folder: ${unread.join(', ')}`] : [];
  const unknown = apart.filter((file) => !separate.has(file));
  const others = (all ? apart : unknown).map((file) => {
    const because = separate.get(file);
    return `not part of a configuration: ${file}${because === undefined ? '' : ` (${because})`}`;
  });
  return { lines: [...lines, ...others, ...missing, total], isExplained: open.length + unknown.length === 0 };
}

function lineOf({ field, kind, published, ours }: Difference, explanation: Explanation | undefined): string {
  const name = field === '' ? '' : `${field}: `;
  const difference =
    kind === 'missing' ? `${name}missing` : `${name}${kind} ${shortened(published)} is ${shortened(ours)} here`;
  return explanation ? `${difference} (${explanation.because})` : difference;
}

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
