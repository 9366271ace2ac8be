import { createRequire } from 'node:module';

interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: string;
}

/** One series. For a histogram, `value` is the count. */
export interface ScrapedSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  readonly sum: number;
  /** Counts by bucket boundary. */
  readonly buckets: Readonly<Record<string, number>>;
}

/** A third-party parser. It joins typed series without their labels, so it only receives the samples. */
const parse: (text: string) => { readonly name: string; readonly metrics: readonly Sample[] }[] = createRequire(
  import.meta.url,
)('parse-prometheus-text-format');

/** The metrics at a port. */
export interface Scraped {
  readonly text: string;
  readonly contentType: string;
  /** Types by the names of metrics. */
  readonly types: ReadonlyMap<string, string>;
  /** The series of a metric whose labels include these. */
  series(name: string, labels?: Readonly<Record<string, string>>): ScrapedSeries[];
  /** Value of the only series with these labels, or the count of a histogram; 0 without such a series. */
  value(name: string, labels?: Readonly<Record<string, string>>): number;
}

export async function scrape(port: number, path = '/metrics'): Promise<Scraped> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  return readMetrics(await response.text(), response.headers.get('content-type') ?? '');
}

export function readMetrics(text: string, contentType = ''): Scraped {
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!]));
  // Joins all samples of a name, because samples of other names can be between them.
  const families = Map.groupBy(parse(text.replace(/^#.*\n/gm, '')), ({ name }) => name);
  const samples = new Map([...families].map(([name, all]) => [name, all.flatMap(({ metrics }) => metrics)]));
  const series = (name: string, labels: Readonly<Record<string, string>> = {}): ScrapedSeries[] => {
    const asked = Object.entries(labels);
    const isHistogram = types.get(name) === 'histogram';
    const own = samples.get(isHistogram ? `${name}_count` : name) ?? [];
    return own
      .filter((one) => asked.every(([key, value]) => one.labels?.[key] === value))
      .map(({ labels: all = {}, value }) => {
        const same = (part: string) =>
          (samples.get(`${name}_${part}`) ?? []).filter((one) =>
            Object.entries(all).every(([key, wanted]) => one.labels?.[key] === wanted),
          );
        const buckets = same('bucket').map((one) => [one.labels!['le']!, Number(one.value)] as const);
        return {
          labels: all,
          value: Number(value),
          sum: Number(same('sum')[0]?.value ?? 0),
          buckets: Object.fromEntries(buckets),
        };
      });
  };
  return {
    text,
    contentType,
    types,
    series,
    value(name, labels) {
      const found = series(name, labels);
      if (found.length > 1) throw new Error(`${found.length} series of ${name}: ${JSON.stringify(found)}`);
      return found[0]?.value ?? 0;
    },
  };
}
