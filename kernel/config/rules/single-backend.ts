import { type EndpointConfig, getPath } from '#contract';
import type { Report } from '../report.ts';
import { type EndpointRule, placesOf, routeName, STREAMS, type Written } from './rule.ts';

/**
 * An output that hands on one backend's answer as it arrives has one backend, called once.
 *
 * Codes: OUTPUT_ONE_BACKEND, OUTPUT_ONE_CALL, OUTPUT_SEQUENTIAL, OUTPUT_FLATMAP; for `no-op` the calls and the sequence
 * are warnings, and the filter is for its plugin to speak of.
 */
export const singleBackend: EndpointRule = (endpoint, pointer, _service, report, written) => {
  const { output_encoding: output, backend, concurrent_calls: calls } = endpoint;
  if (!STREAMS.has(output)) return;
  const name = routeName(endpoint);
  const related = () => placesOf('output_encoding', pointer, written);
  if (backend.length > 1) {
    const message = `output '${output}' takes exactly one backend, ${name} has ${backend.length}`;
    report.error('OUTPUT_ONE_BACKEND', `${pointer}/backend`, message, { related: related() });
  }
  const complain = output === 'no-op' ? report.warn : report.error;
  if (calls > 1) {
    const message = `concurrent_calls has no effect with output '${output}': ${name}`;
    complain('OUTPUT_ONE_CALL', `${pointer}/concurrent_calls`, message, { related: related() });
  }
  if (isSequential(endpoint)) {
    const message = `proxy.sequential has no effect with output '${output}': ${name}`;
    complain('OUTPUT_SEQUENTIAL', `${pointer}/extra_config/proxy/sequential`, message, { related: related() });
  }
  if (output !== 'no-op') refuseFlatmap(endpoint, pointer, report, written);
};

/** A filter that would never run may be one that was to hide something. */
function refuseFlatmap(endpoint: EndpointConfig, pointer: string, report: Report, written: Written): void {
  const holders = [
    [endpoint.extra_config, pointer] as const,
    ...endpoint.backend.map((backend, at) => [backend.extra_config, `${pointer}/backend/${at}`] as const),
  ];
  for (const [extra, at] of holders) {
    if (getPath(extra, ['proxy', 'flatmap_filter']) === undefined) continue;
    const message = `flatmap_filter has no effect with output '${endpoint.output_encoding}': ${routeName(endpoint)}`;
    const related = placesOf('output_encoding', pointer, written);
    report.error('OUTPUT_FLATMAP', `${at}/extra_config/proxy/flatmap_filter`, message, { related });
  }
}

/** The backends of the endpoint are called one after another. */
export function isSequential(endpoint: EndpointConfig): boolean {
  return getPath(endpoint.extra_config, ['proxy', 'sequential']) === true;
}
