import { type AccessRecord, type AtService, type Offer, offer, type Site, tracers } from '#contract';
import { PROPAGATOR_NAMES, type Propagation, propagationOf } from '../lib/tracing/propagator.ts';
import { responseHeaders } from './endpoint-telemetry.ts';
import { type Engine, hasOwnSettings } from './engine.ts';
import { ServerMetrics } from './server.ts';
import { tracer } from './tracer.ts';

/**
 * Reports all requests, endpoints and backends through an engine, except for endpoints and backends with settings of
 * their own.
 * @param component as in `telemetry/opentelemetry`.
 */
export function attachEngine(engine: Engine, component: string): AtService & { readonly offers: readonly Offer[] } {
  const { global, destination } = engine;
  const unmatched =
    global.metrics && destination.instruments && new ServerMetrics(destination.instruments, global.metrics, null);
  const finished = (record: AccessRecord): void => {
    if (engine.skipped.skipsPath(record.path)) return;
    if (record.route) engine.endpoints.get(record.route)?.finished(record);
    else unmatched?.record(record);
  };
  return {
    ...(engine.observesRequests && { finished }),
    offers: engine.exportsTraces ? [offer(tracers, tracer)] : [],
    ...(global.traces?.headers && {
      head: (head, _request, call) => call.set(responseHeaders, head.headers),
    }),
    eachEndpoint: (at) => {
      if (component === 'telemetry/opentelemetry' && hasOwnSettings(at.endpoint)) return {};
      return engine.report(at, at.endpoint, undefined)?.attachment ?? {};
    },
    learnsFrom: hasOwnSettings,
    eachBackend: ({ endpoint, backend }) => {
      const telemetry = engine.endpoints.get(endpoint);
      if (!telemetry || Object.hasOwn(backend.extra_config, component)) return {};
      return telemetry.attachmentOf(backend, telemetry.layers.backend, engine.propagation);
    },
  };
}

/**
 * Returns the propagation formats between services, according to `OTEL_PROPAGATORS`.
 * @throws ConfigError OTEL_PROPAGATORS
 */
export function configuredPropagation(site: Site<unknown>): Propagation {
  try {
    return propagationOf(process.env['OTEL_PROPAGATORS'] || undefined);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw site.fault('OTEL_PROPAGATORS', '', `OTEL_PROPAGATORS: ${error.message}`, {
      hint: `use names from the list ${PROPAGATOR_NAMES.join(', ')}, separated by commas`,
    });
  }
}
