import { setImmediate as turn } from 'node:timers/promises';
import { cleanName, labelsOf } from '../lib/metrics/prometheus.ts';
import { distributionOf, Sample } from './sample.ts';
import { PREFIX, type Stats } from './stats.ts';

interface Family {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'summary';
  readonly labels: Readonly<Record<string, string>>;
  /** Divisor for the values of a family of metrics, because times are stored in nanoseconds. */
  readonly unit?: number;
}

const NANOSECONDS = 1e9;

/** Patterns of names that contain the endpoint or the pipe, and the metric families they map to. */
const forms: readonly (readonly [RegExp, (...segments: string[]) => Family | null])[] = [
  [
    /^router\.response\.(.*)\.status\.(\d+)\.count$/s,
    (endpoint, status) => ({ name: 'router_responses_total', type: 'counter', labels: { endpoint, status } }),
  ],
  // This counter is omitted, because it is always 0 and exists only for readers of the JSON format.
  [/^router\.response\..*\.status$/s, () => null],
  [
    /^router\.response\.(.*)\.size$/s,
    (endpoint) => ({ name: 'router_response_size_bytes', type: 'summary', labels: { endpoint } }),
  ],
  [
    /^router\.response\.(.*)\.time$/s,
    (endpoint) => ({
      name: 'router_response_time_seconds',
      type: 'summary',
      labels: { endpoint },
      unit: NANOSECONDS,
    }),
  ],
  [
    /^router\.tls_version\.(.*)\.count$/s,
    (version) => ({ name: 'router_tls_version_total', type: 'counter', labels: { version } }),
  ],
  [
    /^router\.tls_cipher\.(.*)\.count$/s,
    (cipher) => ({ name: 'router_tls_cipher_total', type: 'counter', labels: { cipher } }),
  ],
  [/^router\.(\w+)-total$/, (what) => ({ name: `router_${what}_total`, type: 'counter', labels: {} })],
  [
    /^proxy\.requests\.layer\.(pipe|backend)\.name\.(.*)\.complete\.(\w+)\.error\.(\w+)$/s,
    (layer, name, complete, error) => ({
      name: 'proxy_requests_total',
      type: 'counter',
      labels: { layer, name, complete, error },
    }),
  ],
  [
    /^proxy\.latency\.layer\.(pipe|backend)\.name\.(.*)\.complete\.(\w+)\.error\.(\w+)$/s,
    (layer, name, complete, error) => ({
      name: 'proxy_latency_seconds',
      type: 'summary',
      labels: { layer, name, complete, error },
      unit: NANOSECONDS,
    }),
  ],
];

const quantiles = [0.5, 0.75, 0.95, 0.99, 0.999];

/** Number of histograms summarized before yielding to the event loop: about one millisecond of work. */
const HISTOGRAMS_A_TURN = 10;

/** Formats all visible metrics in the Prometheus text format. Quantiles are computed from the retained samples. */
export async function exposition(stats: Stats, isShown: (name: string) => boolean): Promise<string> {
  const families = new Map<string, string[]>();
  let summed = 0;
  for (const [key, value] of [...stats.entries()]) {
    const family = isShown(key) ? familyOf(key) : null;
    if (!family) continue;
    const name = cleanName(PREFIX + family.name, /\W/g);
    const lines = families.get(name) ?? [`# TYPE ${name} ${family.type}`];
    families.set(name, lines);
    if (!(value instanceof Sample)) {
      lines.push(`${name}${braces(family.labels)} ${value}`);
      continue;
    }
    const { percentile } = distributionOf(value.values);
    for (const quantile of value.count === 0 ? [] : quantiles) {
      const labels = braces({ ...family.labels, quantile: String(quantile) });
      lines.push(`${name}${labels} ${percentile(quantile) / (family.unit ?? 1)}`);
    }
    lines.push(`${name}_count${braces(family.labels)} ${value.count}`);
    summed += 1;
    if (summed % HISTOGRAMS_A_TURN === 0) await turn();
  }
  return `${[...families.values()].flat().join('\n')}\n`;
}

function familyOf(key: string): Family | null {
  for (const [form, family] of forms) {
    const match = form.exec(key);
    if (match) return family(...match.slice(1));
  }
  return { name: key, type: 'gauge', labels: {} };
}

function braces(labels: Readonly<Record<string, string>>): string {
  const text = labelsOf(labels);
  return text === '' ? '' : `{${text}}`;
}
