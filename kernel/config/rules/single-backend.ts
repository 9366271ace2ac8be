import type { EndpointConfig, Level } from '#contract';
import { type KnownPlugins, meaningsOf } from '../known-plugins.ts';
import { joinPointer } from '../pointer.ts';
import type { Report } from '../report.ts';
import { type EndpointRule, placesOf, routeName, type Written } from './rule.ts';

/**
 * An output that hands on one backend's answer as it arrives has one backend, called once.
 *
 * Codes: OUTPUT_ONE_BACKEND, OUTPUT_ONE_CALL, OUTPUT_SEQUENTIAL, OUTPUT_FLATMAP; where the output is no stream the calls and
 * the sequence are warnings, and the filter is for its plugin to speak of.
 */
export const singleBackend: EndpointRule = (endpoint, pointer, _service, report, written, known) => {
  const { output_encoding: output, backend, concurrent_calls: calls } = endpoint;
  const encoding = known.encoding(output);
  if (!encoding?.raw) return;
  const name = routeName(endpoint);
  const related = () => placesOf('output_encoding', pointer, written);
  if (backend.length > 1) {
    const message = `output '${output}' takes exactly one backend, ${name} has ${backend.length}`;
    report.error('OUTPUT_ONE_BACKEND', `${pointer}/backend`, message, { related: related() });
  }
  const complain = encoding.streams ? report.error : report.warn;
  if (calls > 1) {
    const message = `concurrent_calls has no effect with output '${output}': ${name}`;
    complain('OUTPUT_ONE_CALL', `${pointer}/concurrent_calls`, message, { related: related() });
  }
  for (const { namespace, meaning } of meaningsOf(endpoint.extra_config, 'endpoint', known)) {
    if (meaning.sequence === undefined) continue;
    const message = `${namespace}${meaning.sequence.replaceAll('/', '.')} has no effect with output '${output}': ${name}`;
    const place = joinPointer(pointer, 'extra_config', namespace) + meaning.sequence;
    complain('OUTPUT_SEQUENTIAL', place, message, { related: related() });
  }
  if (encoding.streams) refuseFilters(endpoint, pointer, known, report, written);
};

/** A filter that would never run may be one that was to hide something. */
function refuseFilters(
  endpoint: EndpointConfig,
  pointer: string,
  known: KnownPlugins,
  report: Report,
  written: Written,
): void {
  const refuse = (extra: EndpointConfig['extra_config'], level: Level, at: string): void => {
    for (const { namespace, meaning } of meaningsOf(extra, level, known)) {
      if (meaning.filter === undefined) continue;
      const name = meaning.filter.slice(1);
      const message = `${name} has no effect with output '${endpoint.output_encoding}': ${routeName(endpoint)}`;
      const related = placesOf('output_encoding', pointer, written);
      report.error('OUTPUT_FLATMAP', joinPointer(at, 'extra_config', namespace) + meaning.filter, message, { related });
    }
  };
  refuse(endpoint.extra_config, 'endpoint', pointer);
  endpoint.backend.forEach(({ extra_config: extra }, at) => {
    refuse(extra, 'backend', `${pointer}/backend/${at}`);
  });
}
