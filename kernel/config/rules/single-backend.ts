import { type EndpointConfig, getPath } from '#contract';
import { type EndpointRule, routeName, STREAMS } from './rule.ts';

/**
 * An output that hands on one backend's answer as it arrives has one backend, called once.
 *
 * Codes: OUTPUT_ONE_BACKEND, OUTPUT_ONE_CALL, OUTPUT_SEQUENTIAL; for `no-op` the last two are warnings.
 */
export const singleBackend: EndpointRule = (endpoint, pointer, _service, report) => {
  const { output_encoding: output, backend, concurrent_calls: calls } = endpoint;
  if (!STREAMS.has(output)) return;
  const name = routeName(endpoint);
  if (backend.length > 1) {
    const message = `output '${output}' takes exactly one backend, ${name} has ${backend.length}`;
    report.error('OUTPUT_ONE_BACKEND', `${pointer}/backend`, message);
  }
  const complain = output === 'no-op' ? report.warn : report.error;
  if (calls > 1) {
    const message = `concurrent_calls has no effect with output '${output}': ${name}`;
    complain('OUTPUT_ONE_CALL', `${pointer}/concurrent_calls`, message);
  }
  if (isSequential(endpoint)) {
    const message = `proxy.sequential has no effect with output '${output}': ${name}`;
    complain('OUTPUT_SEQUENTIAL', `${pointer}/extra_config/proxy/sequential`, message);
  }
};

/** The backends of the endpoint are called one after another. */
export function isSequential(endpoint: EndpointConfig): boolean {
  return getPath(endpoint.extra_config, ['proxy', 'sequential']) === true;
}
