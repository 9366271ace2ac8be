import type { BackendConfig } from '#contract';
import { type KnownPlugins, leavesAlone } from '../known-plugins.ts';
import { type EndpointRule, placesOf } from './rule.ts';

/**
 * A response can be made of what the backends answer.
 *
 * Codes: warnings OUTPUT_ENCODING, OUTPUT_CONTENT.
 */
export const outputSource: EndpointRule = (endpoint, pointer, _service, report, written, known) => {
  const { output_encoding: output, backend: backends } = endpoint;
  const related = () => placesOf('output_encoding', pointer, written);
  const { messages, writesField: field } = known.encoding(output) ?? {};
  if (messages) {
    backends.forEach((_, index) => {
      const at = `${pointer}/backend/${index}/encoding`;
      const encoding = written(at);
      if (typeof encoding !== 'string' || encoding === output || isPlain(encoding, known)) return;
      const message = `encoding "${encoding}" has no effect: with output '${output}' the backend must answer ${output} itself`;
      report.warn('OUTPUT_ENCODING', at, message, { related: related() });
    });
  }
  if (field === undefined || !leavesAlone(endpoint.extra_config, 'data', known)) return;
  if (backends.some((backend) => mayBring(field, backend, known))) return;
  const message = `output '${output}' writes the field "${field}" alone, and no backend is known to answer with one`;
  report.warn('OUTPUT_CONTENT', related()[0] ?? pointer, message, {
    hint: `"encoding": "${output}" on the backend takes its whole answer as "${field}"`,
  });
};

/** True for the encoding of a backend whose body is handed on, whatever it is. */
function isPlain(encoding: string, known: KnownPlugins): boolean {
  const { raw, streams } = known.encoding(encoding) ?? {};
  return raw === true && !streams;
}

/** A field that is named is taken to be there. */
function mayBring(field: string, backend: BackendConfig, known: KnownPlugins): boolean {
  const { encoding, group, target, allow = [], mapping = {}, extra_config: extra } = backend;
  const isRead = known.encoding(encoding)?.readsField === field || isPlain(encoding, known);
  if (isRead || group === field || target || allow.includes(field)) return true;
  return Object.values(mapping).includes(field) || !leavesAlone(extra, 'data', known);
}
