import { atService, definePlugin, type Meter, type MeterAttributes, meters, offer, Reply } from 'sluice/plugin';

/** Maximum number of series: measurements with ever new attributes must not exhaust the memory. */
const MAX_SERIES = 10_000;

/** Measurements with one name and the same attributes. */
interface Series {
  count: number;
  sum: number;
}

/** Keeps measurements in memory. */
class Sink implements Meter {
  readonly #series = new Map<string, Series>();

  counter(name: string) {
    return { add: (value: number, attributes?: MeterAttributes) => this.#record(name, value, attributes) };
  }

  upDownCounter(name: string) {
    return this.counter(name);
  }

  histogram(name: string) {
    return { record: (value: number, attributes?: MeterAttributes) => this.#record(name, value, attributes) };
  }

  #record(name: string, value: number, attributes: MeterAttributes = {}): void {
    const labels = Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1));
    const key = `${name}{${labels.map(([label, of]) => `${label}=${JSON.stringify(of)}`).join(',')}}`;
    let series = this.#series.get(key);
    if (!series) {
      if (this.#series.size >= MAX_SERIES) return;
      series = { count: 0, sum: 0 };
      this.#series.set(key, series);
    }
    series.count++;
    series.sum += value;
  }

  /** Number of measurements and their sum, by series. */
  report() {
    return Object.fromEntries([...this.#series].map(([key, series]) => [key, { ...series }]));
  }
}

export const plugin = definePlugin({
  name: 'acme/metrics-sink',
  contract: 1,
  description: 'Keeps what components measure in the memory of the process that serves, and shows it as JSON.',
  offers: [meters],
  places: [
    atService(
      {
        type: 'object',
        examples: [{ path: '/__measured' }],
        properties: {
          path: { type: 'string', pattern: '^/', description: 'Where it is shown.', default: '/__measured' },
        },
      },
      ({ config, keep }) => {
        // The sink is kept over reloads.
        const sink = keep('sink', () => new Sink());
        const requests = sink.counter('requests');
        return {
          offers: [offer(meters, sink)],
          finished: ({ status, endpoint }) => requests.add(1, { status, endpoint: endpoint ?? '' }),
          routes: [
            {
              method: 'GET',
              path: config.path,
              description: 'What was measured.',
              handle: () => Reply.data(sink.report()),
            },
          ],
        };
      },
    ),
  ],
});
