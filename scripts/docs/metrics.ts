import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { processStore, runtimeStore } from '../../plugins/telemetry/lib/metrics/process-metrics.ts';
import { MetricStore } from '../../plugins/telemetry/lib/metrics/store.ts';
import { openInstruments } from '../../plugins/telemetry/opentelemetry/instruments.ts';
import { code, link, plain, table } from './markdown.ts';
import { componentMetrics, labels, statistics } from './metric-labels.ts';

/** A metric as the page shows it. */
export interface DocumentedMetric {
  readonly name: string;
  readonly type: string;
  readonly unit: string;
  readonly meaning: string;
}

/** Metrics of the admin port, read from the source that prints them. */
export function adminMetrics(): DocumentedMetric[] {
  return ['gateway-metrics', 'secret-metrics', 'store-metrics', 'endpoint-metrics'].flatMap((name) => {
    const file = new URL(`../../admin/metrics/${name}.ts`, import.meta.url);
    const source = ts.createSourceFile(file.pathname, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
    const found: DocumentedMetric[] = [];
    const visit = (node: ts.Node): void => {
      if (ts.isObjectLiteralExpression(node)) {
        const { name, type, help } = textsOf(node);
        if (name && type && help) found.push({ name, type, unit: unitOf(name), meaning: help });
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
    return found;
  });
}

function textsOf(node: ts.ObjectLiteralExpression): Record<string, string> {
  return Object.fromEntries(
    node.properties.flatMap((property) =>
      ts.isPropertyAssignment(property) && ts.isStringLiteralLike(property.initializer)
        ? [[property.name.getText(), property.initializer.text]]
        : [],
    ),
  );
}

/** The unit that the name of a metric ends with. */
function unitOf(name: string): string {
  return /_(seconds|bytes)(?:_total)?$/.exec(name)?.[1] ?? '';
}

/** A store that records every instrument, whether it has values or not. */
class RecordingStore extends MetricStore {
  readonly opened = new Map<string, DocumentedMetric>();

  override counter(...[name, options]: Parameters<MetricStore['counter']>): ReturnType<MetricStore['counter']> {
    this.opened.set(name, describe(name, 'counter', options));
    return super.counter(name, options);
  }

  override gauge(...[name, options, read]: Parameters<MetricStore['gauge']>): void {
    this.opened.set(name, describe(name, 'gauge', options));
    super.gauge(name, options, read);
  }

  override histogram(...[name, options]: Parameters<MetricStore['histogram']>): ReturnType<MetricStore['histogram']> {
    this.opened.set(name, describe(name, 'histogram', options));
    return super.histogram(name, options);
  }
}

function describe(
  name: string,
  type: string,
  { description, unit = unitOf(name) }: { readonly description: string; readonly unit?: string },
): DocumentedMetric {
  return { name, type, unit, meaning: description };
}

/** Instruments of OpenTelemetry. @param isNew with the names of the 1.27 conventions. */
export function instruments(isNew: boolean): DocumentedMetric[] {
  const store = new RecordingStore();
  openInstruments(store, { time: [], size: [] }, isNew);
  return [...store.opened.values()];
}

/** Metrics of the processes, next to those of OpenTelemetry in the Prometheus exporter. */
export function processAndRuntimeMetrics(): DocumentedMetric[] {
  const store = new RecordingStore();
  runtimeStore(processStore(store)).close();
  return [...store.opened.values()];
}

/** The page of all metrics. */
export function metricsPage(): string {
  const old = instruments(false);
  const known = new Set(old.map(({ name }) => name));
  const page = 'metrics.md';
  const opentelemetry = link('telemetry/opentelemetry', 'telemetry/opentelemetry.md', page);
  const segments = [
    '# Metrics',
    'Counters start at 0 with the process and include all workers. Names with dots get underscores in Prometheus, and counters the suffix `_total`.',
    '## Admin port',
    `\`GET /metrics\` of the ${link('admin API', 'admin/api.md', page)}, in the Prometheus text format.`,
    metricTable(adminMetrics()),
    '## OpenTelemetry',
    `Exported by ${opentelemetry}, over OTLP or for Prometheus.`,
    metricTable(old),
    'With `"semantic_convention": "1.27"`, the following metrics have other names or types:',
    metricTable(
      instruments(true).filter(
        ({ name, type }) => !known.has(name) || old.find((one) => one.name === name)!.type !== type,
      ),
    ),
    '## Components',
    `Exported by ${opentelemetry}, if the component is configured.`,
    metricTable(componentMetrics),
    '## Processes',
    `Exported for Prometheus by ${opentelemetry} with \`process_metrics\` and \`go_metrics\`.`,
    metricTable(processAndRuntimeMetrics()),
    '## Statistics',
    `Printed by ${link('telemetry/metrics', 'telemetry/metrics.md', page)} for Prometheus, and as JSON under KrakenD's names.`,
    metricTable(statistics),
  ];
  return `${segments.join('\n\n')}\n`;
}

function metricTable(metrics: readonly DocumentedMetric[]): string {
  return table(
    ['Metric', 'Type', 'Unit', 'Labels', 'Meaning'],
    metrics.map(({ name, type, unit, meaning }) => [
      code(name),
      type,
      unit,
      labelsOf(name).map(code).join(', '),
      plain(meaning),
    ]),
  );
}

function labelsOf(name: string): readonly string[] {
  const given = Object.entries(labels).find(([pattern]) => new RegExp(`^(?:${pattern})$`).test(name));
  return given?.[1] ?? [];
}
