import { blockingBoundsMs, type PluginRecord, type WorkerInfo } from '#kernel';
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
      help: '1 if the last configuration change was accepted, otherwise 0.',
      samples: [{ value: lastSucceeded ? 1 : 0 }],
    },
    {
      name: 'gateway_config_last_reload_success_timestamp_seconds',
      type: 'gauge',
      help: 'Time at which a configuration change was last accepted, in seconds since 1970.',
      samples: lastSuccessAt === null ? [] : [{ value: lastSuccessAt / 1000 }],
    },
    {
      name: 'gateway_config_reloads_total',
      type: 'counter',
      help: 'Number of attempted configuration changes.',
      samples: counts.map(({ result, trigger, count }) => ({ labels: { result, trigger }, value: count })),
    },
    {
      name: 'gateway_config_reload_duration_seconds',
      type: 'gauge',
      help: 'Duration of each step of the last configuration change, in seconds.',
      samples: Object.entries(lastPhases).map(([phase, ms]) => ({ labels: { phase }, value: ms / 1000 })),
    },
    {
      name: 'gateway_config_info',
      type: 'gauge',
      help: 'The active configuration; the value is always 1.',
      samples: [{ labels: { revision, hash }, value: 1 }],
    },
  ];
}

/** Returns the error metrics of plugins loaded from files. */
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
      help: 'Number of errors in hooks of plugins that were loaded from files.',
      samples: sumOf((record) => record.faultCount),
    },
    {
      name: 'gateway_plugin_suspended',
      type: 'gauge',
      help: '1 if the plugin is suspended because of errors, otherwise 0.',
      samples: sumOf((record) => (record.suspension ? 1 : 0)),
    },
    {
      name: 'gateway_plugin_hook_seconds_total',
      type: 'counter',
      help: 'Time in the synchronous code of hooks of plugins that were loaded from files, estimated from samples every 10 ms.',
      samples: [...plugins].flatMap(([plugin, records]) => hookSamples(plugin, records)),
    },
    {
      name: 'gateway_plugin_blocking_seconds',
      type: 'histogram',
      help: 'Time during which code of a plugin blocked the event loop for 50 ms or more at a time.',
      samples: [...plugins].flatMap(([plugin, records]) => blockingSamples(plugin, records)),
    },
  ];
}

function hookSamples(plugin: string, records: readonly PluginRecord[]): Sample[] {
  const times = Map.groupBy(
    records.flatMap(({ hooks }) => hooks),
    ({ hook }) => hook,
  );
  return Array.from(times, ([hook, each]) => ({
    labels: { plugin, hook },
    value: each.reduce((sum, { busyMs }) => sum + busyMs, 0) / 1000,
  }));
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
      help: 'Number of internal errors, by the kind of object that was closed because of them. Please report any value above 0.',
      samples: gateway.internalErrors.counts.map(([place, value]) => ({ labels: { place }, value })),
    },
  ];
}

/** Resources held by active configurations, and the processes that serve them. */
export function processMetrics(admin: Admin): Metric[] {
  const { held, leaked, aborted, headerFaults } = admin.gateway.processes;
  const states = held.map(({ state }) => state);
  const workers = workersOf(admin);
  // A process that is still starting is listed without values, because it has not reported any.
  const ofEach = (bytes: 'rssBytes' | 'heapUsedBytes'): Sample[] =>
    workers
      .filter((worker) => worker[bytes] > 0)
      .map((worker) => ({ labels: { worker: worker.id }, value: worker[bytes] }));
  return [
    {
      name: 'gateway_generations',
      type: 'gauge',
      help: 'Number of configurations in memory, by state: active, replaced with requests in progress, or released but not yet freed.',
      samples: [...countStates(['current', 'draining'], states), { labels: { state: 'leaked' }, value: leaked }],
    },
    {
      name: 'gateway_generation_requests',
      type: 'gauge',
      help: 'Number of requests in progress that use a configuration.',
      samples: held.map(({ revision, requests }) => ({ labels: { revision }, value: requests })),
    },
    {
      name: 'gateway_drain_aborted_total',
      type: 'counter',
      help: 'Number of requests aborted because the drain timeout of their replaced configuration expired.',
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
      help: 'Number of processes that serve requests.',
      samples: countStates(
        workerStates,
        workers.map(({ state }) => state),
      ),
    },
    {
      name: 'gateway_log_lines_lost_total',
      type: 'counter',
      help: 'Number of log lines lost because their destination was too slow or writing failed.',
      samples: workers.map(({ id, lostLines }) => ({ labels: { worker: id }, value: lostLines })),
    },
    {
      name: 'gateway_connections',
      type: 'gauge',
      help: 'Number of open connections of clients.',
      samples: workers.map(({ id, connections }) => ({ labels: { worker: id }, value: connections })),
    },
    {
      name: 'gateway_process_cpu_seconds_total',
      type: 'counter',
      help: 'Processor time of each process that serves requests, in seconds.',
      samples: workers.map(({ id, cpuMs }) => ({ labels: { worker: id }, value: cpuMs / 1000 })),
    },
    {
      name: 'gateway_process_resident_bytes',
      type: 'gauge',
      help: 'Resident memory of each process that serves requests, in bytes.',
      samples: ofEach('rssBytes'),
    },
    {
      name: 'gateway_process_heap_bytes',
      type: 'gauge',
      help: 'Used JavaScript heap of each process that serves requests, in bytes.',
      samples: ofEach('heapUsedBytes'),
    },
  ];
}

const workerStates: readonly WorkerInfo['state'][] = ['starting', 'up', 'stopping', 'down'];

/** Number of items in each state, including zero. */
function countStates(states: readonly string[], results: readonly string[]): Sample[] {
  return states.map((state) => ({ labels: { state }, value: results.filter((one) => one === state).length }));
}
