import { type DataObject, getPath, type Reply } from '#contract';
import type { QuotaUseConfig } from './schema.ts';

/** Returns the weight of a response: 1, with at most one warning a second, when the response does not contain a number of at least 0. */
export function weightReader(
  { weight_key: key, weight_strategy: where }: QuotaUseConfig,
  warn: (message: () => string) => void,
) {
  const path = (key ?? '').split('.');
  const header = (key ?? '').toLowerCase();
  return (reply: Reply): number => {
    const written = where === 'header' ? headerNumber(reply.headers.get(header)) : numberAt(reply.data, path);
    if (written !== null) return written;
    warn(() => `[Quota] the response has no weight at "${key}": it counts as 1`);
    return 1;
  };
}

function headerNumber(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}(?:\.\d{1,15})?$/.test(text.trim()) ? Number(text) : null;
}

/** The number at a path, if it is a valid weight. */
export function numberAt(data: DataObject | null, path: readonly string[]): number | null {
  const value = data && getPath(data, path);
  return typeof value === 'number' && value >= 0 && value < 1e15 ? value : null;
}
