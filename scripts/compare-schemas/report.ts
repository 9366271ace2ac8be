import type { Comparison, Difference } from './differences.ts';
import { type Explanation, explanationOf } from './explained.ts';

/** Text of a comparison, and whether every difference is explained. */
export interface Report {
  readonly lines: readonly string[];
  readonly isExplained: boolean;
}

/**
 * Describes the differences by object, first what is missing.
 * @param all also list the explained differences, with their reasons.
 */
export function reportOf(comparison: Comparison, known: readonly Explanation[], all: boolean): Report {
  const { differences, schemas, compared, added, unread } = comparison;
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
  return { lines: [...lines, ...missing, total], isExplained: open.length === 0 };
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
