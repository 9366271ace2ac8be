import type { Instrument } from './instrument.ts';
import { Distribution, type Sum } from './series.ts';
import type { MetricStore } from './store.ts';

/** The content type of an `exposition`. */
export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

const types = { counter: 'counter', upDownCounter: 'gauge', gauge: 'gauge', histogram: 'histogram' } as const;

/** Series that are printed before other work may run: about a millisecond. */
const SERIES_A_TURN = 100;

/**
 * Formats stores in the Prometheus text format, in pieces between which other work may run. Dots become underscores and
 * counters end in `_total`; names get no unit suffix.
 * @param resource attributes of the service, which become those of `target_info`.
 */
export function* exposition(
  stores: readonly MetricStore[],
  resource: Readonly<Record<string, string>>,
): Iterable<string> {
  let text = `# HELP target_info Target metadata\n# TYPE target_info gauge\ntarget_info{${labelsOf(resource)}} 1\n`;
  let printed = 0;
  const families = Map.groupBy(
    stores.flatMap((store) => store.instruments()),
    familyName,
  );
  for (const [name, instruments] of families) {
    const [first] = instruments as [Instrument];
    text += `# HELP ${name} ${escapeHelp(first.description)}\n# TYPE ${name} ${types[first.kind]}\n`;
    for (const instrument of instruments) {
      if (instrument.kind !== first.kind) continue;
      for (const series of instrument.series()) {
        const labels = labelsOf(series.attributes);
        text +=
          series instanceof Distribution
            ? histogramLines(name, labels, series, instrument.bounds)
            : `${name}${braces(labels)} ${(series as Sum).value}\n`;
        printed += 1;
        if (printed % SERIES_A_TURN > 0) continue;
        yield text;
        text = '';
      }
    }
  }
  yield text;
}

function familyName({ name, kind }: Instrument): string {
  const clean = cleanName(name, /[^a-zA-Z0-9_:]/g);
  return kind === 'counter' && !clean.endsWith('_total') ? `${clean}_total` : clean;
}

function histogramLines(name: string, labels: string, series: Distribution, bounds: readonly number[]): string {
  const before = labels === '' ? '' : `${labels},`;
  let lines = '';
  let count = 0;
  for (const [at, bound] of bounds.entries()) {
    count += series.counts[at]!;
    lines += `${name}_bucket{${before}le="${bound}"} ${count}\n`;
  }
  count += series.counts[bounds.length]!;
  lines += `${name}_bucket{${before}le="+Inf"} ${count}\n`;
  return `${lines}${name}_sum${braces(labels)} ${series.sum}\n${name}_count${braces(labels)} ${count}\n`;
}

function braces(labels: string): string {
  return labels === '' ? '' : `{${labels}}`;
}

/** Converts attributes to labels. Attributes whose sanitized names are equal become one label, with the values joined by `;`. */
export function labelsOf(attributes: Readonly<Record<string, string | number | boolean>>): string {
  const labels = new Map<string, string>();
  for (const [name, value] of Object.entries(attributes)) {
    const clean = cleanName(name, /[^a-zA-Z0-9_]/g);
    const other = labels.get(clean);
    labels.set(clean, other === undefined ? String(value) : `${other};${value}`);
  }
  return [...labels].map(([name, value]) => `${name}="${escapeValue(value)}"`).join(',');
}

/** Replaces every invalid character of a name with `_`; a leading digit is prefixed with `_`. */
export function cleanName(name: string, others: RegExp): string {
  const clean = name.replace(others, '_');
  return /^\d/.test(clean) ? `_${clean}` : clean;
}

function escapeValue(value: string): string {
  return value.replace(/[\\"\n]/g, (mark) => (mark === '\n' ? '\\n' : `\\${mark}`));
}

function escapeHelp(text: string): string {
  return text.replace(/[\\\n]/g, (mark) => (mark === '\n' ? '\\n' : '\\\\'));
}
