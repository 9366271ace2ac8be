import {
  type AtService,
  atService,
  before,
  type ClientRequest,
  definePlugin,
  type EndpointConfig,
  type Infer,
  offer,
  type Site,
  timerMs,
} from '#contract';
import { relayed } from '../lib/metrics/relay.ts';
import { routeName } from '../opentelemetry/patterns.ts';
import { countLayer, countTls, EndpointStats } from './layers.ts';
import { statsPage } from './page.ts';
import { observeProcess } from './process-values.ts';
import { ShownNames } from './shown-names.ts';
import { Stats, snapshots } from './stats.ts';

const flag = (description: string) => ({ type: 'boolean', description, default: false }) as const;

const schema = {
  type: 'object',
  title: 'Metrics',
  description: 'In-memory metrics, served as a JSON object at /__stats on a separate port.',
  examples: [{ collection_time: '60s', listen_address: '127.0.0.1:0' }, { endpoint_disabled: true }],
  properties: {
    collection_time: {
      type: 'duration',
      description: 'Collection interval: gauges, totals and process values are updated once per interval.',
      default: '60s',
      examples: ['30s'],
    },
    listen_address: {
      type: 'string',
      pattern: '^(?:\\[[0-9a-fA-F:.]+\\]|[^\\s:/@]*):[0-9]{1,5}$',
      description: 'Listen address in the form :PORT or ADDRESS:PORT. Port 0 chooses a free port.',
      default: ':8090',
      examples: ['127.0.0.1:8090'],
    },
    endpoint_disabled: flag('Collects metrics without serving them.'),
    router_disabled: flag('Disables counting of endpoint responses.'),
    proxy_disabled: flag('Disables counting of endpoint pipelines.'),
    backend_disabled: flag('Disables counting of backend pipelines.'),
  },
} as const;

/** Timeout for the headers of a request to the page, in milliseconds. */
const HEADER_MS = 3000;

/** Keeps counters in the process and serves them on a page. */
export const plugin = definePlugin({
  name: 'telemetry/metrics',
  description: 'Counts requests in memory and serves the metrics as JSON.',
  leaves: ['requests', 'data'],
  opens: ['/listen_address'],
  independent: true,
  offers: [snapshots],
  places: [atService(schema, attach)],
});

/** @throws ConfigError METRICS_WINDOW, METRICS_ADDRESS */
function attach(site: Site<Infer<typeof schema>>): AtService {
  const { collection_time, router_disabled, proxy_disabled, backend_disabled, endpoint_disabled } = site.config;
  if (collection_time < 1) {
    throw site.fault('METRICS_WINDOW', '/collection_time', 'the collection interval must be at least a millisecond', {
      hint: '"60s"',
    });
  }
  const stats = relayed<Stats, ReturnType<Stats['take']>>(site, 'stats', {
    open: () => new Stats(),
    take: (own) => own.take(),
    merge: (own, change) => own.merge(change),
  });
  const shown = new ShownNames(stats);
  const { isShown } = shown;
  // Makes every process forget the counts that the previous configuration collected for removed endpoints.
  for (const where of ['owner', 'each'] as const) site.start(shown.serve, { in: where });
  site.start((signal) => {
    const observed = observeProcess(stats);
    const timer = setInterval(() => stats.endWindow(observed.read()), timerMs(collection_time));
    timer.unref();
    signal.addEventListener('abort', () => {
      clearInterval(timer);
      observed.close();
    });
  });
  if (!endpoint_disabled) listen(site, stats, isShown);
  const endpoints = new WeakMap<EndpointConfig, EndpointStats>();
  const connected = before<ClientRequest>(() => {
    stats.counter('router.connected').value += 1;
  });
  return {
    offers: [offer(snapshots, () => stats.snapshot(isShown))],
    ...(!router_disabled && {
      finished: (record) => {
        if (!record.route) return;
        stats.counter('router.disconnected').value += 1;
        endpoints.get(record.route)?.finished(record);
        countTls(stats, record);
      },
    }),
    eachEndpoint: (at) => {
      const { endpoint } = at;
      const name = routeName(endpoint.endpoint);
      if (!router_disabled) {
        shown.add(`router.response.${name}`, at);
        endpoints.set(endpoint, new EndpointStats(stats, endpoint));
      }
      if (!proxy_disabled) shown.add(`layer.pipe.name.${name}`, at);
      return {
        ...(!router_disabled && { endpoint: connected }),
        ...(!proxy_disabled && { proxy: countLayer(stats, 'pipe', name) }),
      };
    },
    eachBackend: (at) => {
      const { backend } = at;
      if (backend_disabled) return {};
      shown.add(`layer.backend.name.${backend.url_pattern}`, at);
      return { backend: countLayer(stats, 'backend', backend.url_pattern) };
    },
  };
}

function listen(site: Site<Infer<typeof schema>>, stats: Stats, isShown: (name: string) => boolean): void {
  const { listen_address: address } = site.config;
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[|\]$/g, '');
  const port = Number(address.slice(colon + 1));
  if (port > 65535) throw site.fault('METRICS_ADDRESS', '/listen_address', `port ${port} does not exist`);
  site.listen({ ...(host !== '' && { host }), port, headerTimeoutMs: HEADER_MS }, statsPage(stats, isShown));
  site.start(() => {
    const log = site.use('log').at('[SERVICE: Stats]');
    log.debug(() => `The endpoint /__stats is now available on ${address}`);
  });
}
