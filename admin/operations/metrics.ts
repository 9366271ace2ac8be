import { endpointMetrics } from '../metrics/endpoint-metrics.ts';
import { EXPOSITION_TYPE, writeExposition } from '../metrics/exposition.ts';
import { internalErrorMetrics, pluginMetrics, processMetrics, reloadMetrics } from '../metrics/gateway-metrics.ts';
import { secretMetrics } from '../metrics/secret-metrics.ts';
import { storeMetrics } from '../metrics/store-metrics.ts';
import type { Operation } from '../operation.ts';
import { text } from '../schemas.ts';

export const metrics: Operation = {
  method: 'GET',
  path: '/metrics',
  scope: 'read',
  openOnLoopback: true,
  summary: 'Return the metrics in the Prometheus text format. Needs no token from loopback addresses and Unix sockets.',
  responses: { 200: { description: 'The metrics.', content: { 'text/plain': text } } },
  handle(ctx, admin) {
    const all = [
      ...reloadMetrics(admin),
      ...internalErrorMetrics(admin),
      ...processMetrics(admin),
      ...pluginMetrics(admin),
      ...secretMetrics(admin),
      ...storeMetrics(admin),
      ...endpointMetrics(admin.gateway),
    ];
    ctx.set('Content-Type', EXPOSITION_TYPE);
    ctx.body = writeExposition(all);
  },
};
