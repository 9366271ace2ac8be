import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { readDescriptors } from '#contract';
import { MetricStore } from './store.ts';

/** CPU time, memory, open files and start time of the gateway's processes, under the names that Prometheus client libraries use. */
export function processStore(store = new MetricStore()): MetricStore {
  const cpu = store.counter('process_cpu_seconds_total', { description: 'CPU time of all processes, in seconds.' });
  let before = { user: 0, system: 0 };
  store.beforeRead(() => {
    const used = process.cpuUsage();
    cpu.add((used.user - before.user + used.system - before.system) / 1e6);
    before = used;
  });
  store.gauge('process_resident_memory_bytes', { description: 'Resident memory of all processes, in bytes.' }, () =>
    process.memoryUsage.rss(),
  );
  // Systems that do not report these values set them to 0.
  store.gauge(
    'process_open_fds',
    { description: 'Open file descriptors of all processes.' },
    () => readDescriptors()?.open ?? 0,
  );
  store.gauge(
    'process_max_fds',
    { description: 'Maximum number of file descriptors of all processes.' },
    () => readDescriptors()?.limit ?? 0,
  );
  store.gauge(
    'process_start_time_seconds',
    { description: 'Start time of the gateway, in seconds since 1970.', combination: 'min' },
    () => performance.timeOrigin / 1000,
  );
  return store;
}

const gcKinds: Readonly<Record<number, string>> = { 1: 'minor', 4: 'major', 8: 'incremental', 16: 'weakcb' };

/** Event loop delay, heap and garbage collection of the gateway's processes. */
export function runtimeStore(store = new MetricStore()): MetricStore {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  const seconds = (nanoseconds: number) => (Number.isFinite(nanoseconds) ? nanoseconds / 1e9 : 0);
  let lag = { mean: 0, longest: 0, high: 0 };
  store.beforeRead(() => {
    lag = { mean: seconds(delay.mean), longest: seconds(delay.max), high: seconds(delay.percentile(99)) };
    delay.reset();
  });
  const lagGauge = (name: string, what: string, field: keyof typeof lag) => {
    const description = `${what} delay of the event loop since the previous measurement, in seconds.`;
    store.gauge(name, { description, combination: 'max' }, () => lag[field]);
  };
  lagGauge('nodejs_eventloop_lag_mean_seconds', 'Mean', 'mean');
  lagGauge('nodejs_eventloop_lag_max_seconds', 'Longest', 'longest');
  lagGauge('nodejs_eventloop_lag_p99_seconds', '99th percentile of the', 'high');
  const memory = (name: string, what: string, field: 'heapTotal' | 'heapUsed' | 'external') =>
    store.gauge(name, { description: `${what}, in bytes.` }, () => process.memoryUsage()[field]);
  memory('nodejs_heap_size_total_bytes', 'Size of the heap', 'heapTotal');
  memory('nodejs_heap_size_used_bytes', 'Used size of the heap', 'heapUsed');
  memory('nodejs_external_memory_bytes', 'Memory of objects outside the heap', 'external');
  store.gauge(
    'nodejs_active_resources',
    { description: 'Active handles that keep the processes alive, such as sockets and timers.' },
    () => process.getActiveResourcesInfo().length,
  );
  const collections = store.histogram('nodejs_gc_duration_seconds', {
    description: 'Duration of garbage collections, in seconds.',
    bounds: [0.001, 0.01, 0.1, 1, 2, 5],
  });
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { duration } = entry;
      const { kind } = (entry as unknown as { readonly detail: { readonly kind: number } }).detail;
      collections.record(duration / 1000, { kind: gcKinds[kind] ?? 'other' });
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  store.onClose(() => {
    observer.disconnect();
    delay.disable();
  });
  return store;
}
