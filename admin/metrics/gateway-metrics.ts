import { blockingBoundsMs, type MemoryUse, type PluginRecord, type WorkerInfo } from '#kernel';
import type { Admin } from '../operation.ts';
import { workersOf } from '../processes.ts';
import { type Metric, type Sample, writeValue } from './exposition.ts';

/** Outcomes of configuration changes. */
export function reloadMetrics({ gateway, operating }: Admin): Metric[] {
  const { lastSucceeded, lastSuccessAt, counts, lastPhases } = operating.reloads;
  const { revision, hash } = gateway.status;
  return [
    {
      name: 'gateway_config_last_reload_successful',
      type: 'gauge',
      help: 'Whether the last change of configuration was accepted.',
      samples: [{ value: lastSucceeded ? 1 : 0 }],
    },
    {
      name: 'gateway_config_last_reload_success_timestamp_seconds',
      type: 'gauge',
      help: 'When a change of configuration was last accepted.',
      samples: lastSuccessAt === null ? [] : [{ value: lastSuccessAt / 1000 }],
    },
    {
      name: 'gateway_config_reloads_total',
      type: 'counter',
      help: 'Changes of configuration that were tried.',
      samples: counts.map(({ result, trigger, count }) => ({ labels: { result, trigger }, value: count })),
    },
    {
      name: 'gateway_config_reload_duration_seconds',
      type: 'gauge',
      help: 'Time each step of the last change of configuration took.',
      samples: Object.entries(lastPhases).map(([phase, ms]) => ({ labels: { phase }, value: ms / 1000 })),
    },
    {
      name: 'gateway_config_info',
      type: 'gauge',
      help: 'The configuration that serves.',
      samples: [{ labels: { revision, hash }, value: 1 }],
    },
  ];
}

/** Errors of plugins loaded from files. */
export function pluginMetrics({ gateway }: Pick<Admin, 'gateway'>): Metric[] {
  const plugins = Map.groupBy(gateway.containment.records, ({ name }) => name);
  const sumOf = (value: (record: PluginRecord) => number): Sample[] =>
    [...plugins].map(([plugin, records]) => ({
      labels: { plugin },
      value: records.reduce((sum, record) => sum + value(record), 0),
    }));
  return [
    {
      name: 'gateway_plugin_faults_total',
      type: 'counter',
      help: 'Faults in hooks of plugins that were loaded from files.',
      samples: sumOf((record) => record.faultCount),
    },
    {
      name: 'gateway_plugin_suspended',
      type: 'gauge',
      help: 'Whether a plugin is suspended for its faults.',
      samples: sumOf((record) => (record.suspension ? 1 : 0)),
    },
    {
      name: 'gateway_plugin_blocking_seconds',
      type: 'histogram',
      help: 'Times for which the code of a plugin held the event loop for 50 ms and more.',
      samples: [...plugins].flatMap(([plugin, records]) => blockingSamples(plugin, records)),
    },
  ];
}

/** Histogram buckets, cumulative. */
function blockingSamples(plugin: string, records: readonly PluginRecord[]): Sample[] {
  const ranges = [...blockingBoundsMs, Number.POSITIVE_INFINITY];
  let count = 0;
  const buckets = ranges.map((bound, index): Sample => {
    count += records.reduce((sum, { blocking }) => sum + blocking.ranges[index]!, 0);
    return { suffix: '_bucket', labels: { plugin, le: writeValue(bound / 1000) }, value: count };
  });
  const totalMs = records.reduce((sum, { blocking }) => sum + blocking.totalMs, 0);
  return [
    ...buckets,
    { suffix: '_sum', labels: { plugin }, value: totalMs / 1000 },
    { suffix: '_count', labels: { plugin }, value: count },
  ];
}

/** Uncaught errors in the gateway's own code. */
export function internalErrorMetrics({ gateway }: Pick<Admin, 'gateway'>): Metric[] {
  return [
    {
      name: 'sluice_internal_errors_total',
      type: 'counter',
      help: 'Internal errors by the kind of object they closed. Please report any value above 0.',
      samples: gateway.internalErrors.counts.map(([place, value]) => ({ labels: { place }, value })),
    },
  ];
}

/** Resources held by active configurations, and the processes that serve them. */
export function processMetrics(admin: Admin): Metric[] {
  const { held, leaked, aborted, headerFaults } = admin.gateway.processes;
  const states = held.map(({ state }) => state);
  const workers = workersOf(admin);
  // A process that is still starting has not reported yet.
  const ofEach = (bytes: keyof MemoryUse): Sample[] =>
    workers
      .filter((worker) => worker[bytes] > 0)
      .map((worker) => ({ labels: { worker: worker.id }, value: worker[bytes] }));
  return [
    {
      name: 'gateway_generations',
      type: 'gauge',
      help: 'Configurations in memory: serving, with requests left, or released and not freed.',
      samples: [...countStates(['current', 'draining'], states), { labels: { state: 'leaked' }, value: leaked }],
    },
    {
      name: 'gateway_generation_requests',
      type: 'gauge',
      help: 'Requests in flight on a configuration.',
      samples: held.map(({ revision, requests }) => ({ labels: { revision }, value: requests })),
    },
    {
      name: 'gateway_drain_aborted_total',
      type: 'counter',
      help: 'Requests aborted because the drain timeout of their replaced configuration expired.',
      samples: [{ value: aborted }],
    },
    {
      name: 'gateway_proxy_header_faults_total',
      type: 'counter',
      help: 'Connections closed for a missing or malformed PROXY protocol header.',
      samples: [{ value: headerFaults }],
    },
    {
      name: 'gateway_workers',
      type: 'gauge',
      help: 'Processes that serve.',
      samples: countStates(
        workerStates,
        workers.map(({ state }) => state),
      ),
    },
    {
      name: 'gateway_log_lines_lost_total',
      type: 'counter',
      help: 'Log lines lost because the destination was too slow or writing failed.',
      samples: workers.map(({ id, lostLines }) => ({ labels: { worker: id }, value: lostLines })),
    },
    {
      name: 'gateway_process_resident_bytes',
      type: 'gauge',
      help: 'Memory of each process that serves.',
      samples: ofEach('rssBytes'),
    },
    {
      name: 'gateway_process_heap_bytes',
      type: 'gauge',
      help: 'JavaScript heap in use, per serving process.',
      samples: ofEach('heapUsedBytes'),
    },
  ];
}

const workerStates: readonly WorkerInfo['state'][] = ['starting', 'up', 'stopping', 'down'];

/** Number of items in each state, including zero. */
function countStates(states: readonly string[], results: readonly string[]): Sample[] {
  return states.map((state) => ({ labels: { state }, value: results.filter((one) => one === state).length }));
}
