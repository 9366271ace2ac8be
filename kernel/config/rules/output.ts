import type { BackendConfig, EndpointConfig, Level } from '#contract';
import { joinPointer } from '../../values/pointer.ts';
import type { Report } from '../issues/report.ts';
import { isUnread, type KnownPlugins, leavesAlone, meaningsOf } from '../normalize/known-plugins.ts';
import { type EndpointRule, placesOf, routeName, type Written } from './rule.ts';

/**
 * Checks that the output can be produced from the backend responses.
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
      const message = `encoding "${encoding}" has no effect: with output '${output}' the backend must return ${output} itself`;
      report.warn('OUTPUT_ENCODING', at, message, { related: related() });
    });
  }
  if (field === undefined || !leavesAlone(endpoint.extra_config, 'data', known)) return;
  if (backends.some((backend) => mayBring(field, backend, known))) return;
  const message = `output '${output}' writes only the field "${field}", which no backend is known to return`;
  report.warn('OUTPUT_CONTENT', related()[0] ?? pointer, message, {
    hint: `Set "encoding": "${output}" on the backend to put its whole response into "${field}"`,
  });
};

/** Whether an encoding passes the backend's body through, regardless of its format. */
function isPlain(encoding: string, known: KnownPlugins): boolean {
  const { raw, streams } = known.encoding(encoding) ?? {};
  return raw === true && !streams;
}

/**
 * Whether the response of a backend may contain a field. A field that the settings of the backend name is assumed to
 * exist.
 */
function mayBring(field: string, backend: BackendConfig, known: KnownPlugins): boolean {
  const { encoding, group, target, allow = [], mapping = {}, extra_config: extra } = backend;
  const isRead = known.encoding(encoding)?.readsField === field || isPlain(encoding, known);
  if (isRead || group === field || target || allow.includes(field)) return true;
  return Object.values(mapping).includes(field) || !leavesAlone(extra, 'data', known);
}

/**
 * Checks that an output that passes one backend's response through unchanged has one backend, called once.
 *
 * Codes: OUTPUT_ONE_BACKEND, OUTPUT_ONE_CALL, OUTPUT_SEQUENTIAL, OUTPUT_FLATMAP; if the output is not a stream, the
 * second and third are warnings, and the fourth is not reported.
 */
export const singleBackend: EndpointRule = (endpoint, pointer, _service, report, written, known) => {
  const { output_encoding: output, backend, concurrent_calls: calls } = endpoint;
  const encoding = known.encoding(output);
  if (!encoding?.raw) return;
  const name = routeName(endpoint);
  const related = () => placesOf('output_encoding', pointer, written);
  const isChosen = backend.every(
    ({ extra_config: extra }, at) =>
      meaningsOf(extra, 'backend', known).some(({ meaning }) => meaning.chosen) || isChoice(endpoint, at, known),
  );
  if (backend.length > 1 && !isChosen) {
    const message = `output '${output}' requires exactly one backend, but ${name} has ${backend.length}`;
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

/** True if a component of the endpoint decides whether the backend at a position is called. */
function isChoice({ extra_config: extra }: EndpointConfig, at: number, known: KnownPlugins): boolean {
  return meaningsOf(extra, 'endpoint', known).some(({ meaning }) => meaning.chooses?.includes(at));
}

/** Rejects filters that would never run, because they may be intended to hide data. */
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

/**
 * Warns of response parts that overwrite each other.
 *
 * Code: a warning, MERGE_GROUP.
 */
export const mergeConflicts: EndpointRule = (endpoint, pointer, _service, report, _written, known) => {
  const { backend: backends } = endpoint;
  if (backends.length < 2) return;
  const groups = new Map<string, number>();
  backends.forEach(({ group, encoding, extra_config: extra }, index) => {
    if (!group || isUnread(encoding, known)) return;
    // Skips backends on whose calls a component decides: at most one of them contributes to the response.
    if (meaningsOf(extra, 'backend', known).some(({ meaning }) => meaning.apart)) return;
    if (isChoice(endpoint, index, known)) return;
    const first = groups.get(group);
    if (first === undefined) {
      groups.set(group, index);
      return;
    }
    if (meaningsOf(endpoint.extra_config, 'endpoint', known).some(({ meaning }) => meaning.joins)) return;
    const message = `backend ${first} also uses the group "${group}": this backend's response replaces it`;
    report.warn('MERGE_GROUP', `${pointer}/backend/${index}/group`, message, {
      hint: ['a different group', known.compatibility.remedies?.joined].filter(Boolean).join(', or '),
      related: [`${pointer}/backend/${first}/group`],
    });
  });
};
