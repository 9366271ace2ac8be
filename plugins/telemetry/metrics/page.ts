import { setImmediate as turn } from 'node:timers/promises';
import type { PortHandler } from '#contract';
import { EXPOSITION_TYPE } from '../lib/metrics/prometheus.ts';
import { exposition } from './exposition.ts';
import { Sample, summaryOf } from './sample.ts';
import { PREFIX, type Stats } from './stats.ts';

/** Number of histograms summarized before yielding to the event loop: about one millisecond of work. */
const HISTOGRAMS_A_TURN = 10;
/** Maximum number of pages generated at the same time; further requests must be retried. */
const MAX_PAGES = 4;

interface Form {
  readonly contentType: string;
  print(stats: Stats, isShown: (name: string) => boolean): Promise<string>;
}

const forms: ReadonlyMap<string, Form> = new Map([
  ['json', { contentType: 'application/json; charset=utf-8', print: pageOf }],
  ['prometheus', { contentType: EXPOSITION_TYPE, print: exposition }],
]);

/**
 * Responds to `GET /__stats` with all visible metrics, as one JSON object with sorted keys, or with
 * `?format=prometheus` in the Prometheus text format.
 */
export function statsPage(stats: Stats, isShown: (name: string) => boolean): PortHandler {
  let running = 0;
  return (message, response) => {
    message.resume();
    const [path, search = ''] = message.url!.split('?', 2);
    if (path === '/__stats/') {
      return void response.writeHead(301, { Location: `/__stats${search && `?${search}`}` }).end();
    }
    if (path !== '/__stats') return void response.writeHead(404).end();
    if (message.method !== 'GET') return void response.writeHead(405, { Allow: 'GET' }).end();
    const form = forms.get(new URLSearchParams(search).get('format') ?? 'json');
    if (!form) return void response.writeHead(400).end('format is json or prometheus\n');
    if (running >= MAX_PAGES) return void response.writeHead(503, { 'Retry-After': '1' }).end();
    running += 1;
    response.once('close', () => {
      running -= 1;
    });
    response.setTimeout(10_000, () => response.destroy());
    form.print(stats, isShown).then(
      (page) => response.writeHead(200, { 'Content-Type': form.contentType }).end(page),
      () => response.destroy(),
    );
  };
}

async function pageOf(stats: Stats, isShown: (name: string) => boolean): Promise<string> {
  const values: [string, number | object][] = [
    ['cmdline', process.argv],
    ['memstats', process.memoryUsage()],
  ];
  let summed = 0;
  for (const [name, value] of [...stats.entries()]) {
    if (!isShown(name)) continue;
    if (!(value instanceof Sample)) {
      values.push([PREFIX + name, value]);
      continue;
    }
    for (const [end, number] of Object.entries(summaryOf(value))) values.push([`${PREFIX}${name}.${end}`, number]);
    summed += 1;
    if (summed % HISTOGRAMS_A_TURN === 0) await turn();
  }
  values.sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify(Object.fromEntries(values), null, 2);
}
