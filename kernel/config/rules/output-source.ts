import { type BackendConfig, getKey } from '#contract';
import { type EndpointRule, isPassive, placesOf } from './rule.ts';

/** Outputs that read the backend's answer as what they write. */
const MESSAGES: ReadonlySet<string> = new Set(['sse', 'ndjson', 'eventstream']);
/** Encodings that read any text into the field that the output `string` writes. */
const TEXT: ReadonlySet<string> = new Set(['string', 'safejson', 'no-op']);

/**
 * A response can be made of what the backends answer.
 *
 * Codes: warnings OUTPUT_ENCODING, OUTPUT_CONTENT.
 */
export const outputSource: EndpointRule = (endpoint, pointer, _service, report, written) => {
  const { output_encoding: output, backend: backends } = endpoint;
  const related = () => placesOf('output_encoding', pointer, written);
  if (MESSAGES.has(output)) {
    backends.forEach((_, index) => {
      const at = `${pointer}/backend/${index}/encoding`;
      const encoding = written(at);
      if (typeof encoding !== 'string' || encoding === output || encoding === 'no-op') return;
      const message = `encoding "${encoding}" has no effect: with output '${output}' the backend must answer ${output} itself`;
      report.warn('OUTPUT_ENCODING', at, message, { related: related() });
    });
  }
  const isUnchanged = isPassive(endpoint.extra_config) && getKey(endpoint.extra_config, 'proxy') === undefined;
  if (output !== 'string' || !isUnchanged || backends.some(mayBringContent)) return;
  const message = 'output \'string\' writes the field "content" alone, and no backend is known to answer with one';
  report.warn('OUTPUT_CONTENT', related()[0] ?? pointer, message, {
    hint: '"encoding": "string" on the backend takes its whole answer as "content"',
  });
};

/** A field that is named is taken to be there. */
function mayBringContent(backend: BackendConfig): boolean {
  const { encoding, group, target, allow = [], mapping = {}, extra_config: extra } = backend;
  if (TEXT.has(encoding) || group === 'content' || target || allow.includes('content')) return true;
  return Object.values(mapping).includes('content') || !isPassive(extra) || getKey(extra, 'proxy') !== undefined;
}
