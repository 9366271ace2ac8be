import { type BackendConfig, type EndpointConfig, isHeaderName } from '#contract';
import type { Report } from '../issues/report.ts';
import { type KnownPlugins, leavesAlone } from '../normalize/known-plugins.ts';
import type { EndpointRule } from './rule.ts';

/**
 * Checks that the lists of forwarded names contain only names that can be forwarded.
 *
 * Codes: FORWARD_HEADER_NAME; warnings FORWARD_ALL_AND_SOME, FORWARD_STAR, FORWARD_WILDCARD.
 */
export const forwardedNames: EndpointRule = (endpoint, pointer, _service, report) => {
  const headerNames = (names: readonly string[], at: string) => {
    names.forEach((name, index) => {
      if (isHeaderName(name)) return;
      const trimmed = name.trim().replace(/:$/, '');
      const hint = isHeaderName(trimmed) ? JSON.stringify(trimmed) : undefined;
      report.error('FORWARD_HEADER_NAME', `${at}/${index}`, `${JSON.stringify(name)} cannot be the name of a header`, {
        hint,
        fix: hint === undefined ? undefined : { value: trimmed },
      });
    });
  };
  headerNames(endpoint.input_headers, `${pointer}/input_headers`);
  for (const field of ['input_headers', 'input_query_strings'] as const) {
    const names = endpoint[field];
    reportWildcards(names, `${pointer}/${field}`, report);
    if (names.length < 2 || !names.includes('*')) continue;
    const message = `'*' in ${field} forwards everything: the other names have no effect`;
    report.warn('FORWARD_ALL_AND_SOME', `${pointer}/${field}`, message, { hint: '["*"]', fix: { value: ['*'] } });
  }
  endpoint.backend.forEach((backend, position) => {
    const at = `${pointer}/backend/${position}`;
    const dropsAll = backend.input_headers.length === 1 && backend.input_headers[0] === '';
    if (!dropsAll) headerNames(backend.input_headers, `${at}/input_headers`);
    for (const field of ['input_headers', 'input_query_strings'] as const) {
      reportWildcards(backend[field], `${at}/${field}`, report);
      if (!backend[field].includes('*')) continue;
      const message = `'*' has no special meaning in ${field} of a backend: an empty list forwards everything`;
      report.warn('FORWARD_STAR', `${at}/${field}`, message, { hint: '[]' });
    }
  });
};

/** Names are compared literally: an asterisk within a name is not a wildcard. */
function reportWildcards(names: readonly string[], at: string, report: Report): void {
  names.forEach((name, index) => {
    if (name === '*' || !/^\*|\*$/.test(name)) return;
    const message = `"${name}" is a literal name, not a pattern: only "*" matches all`;
    report.warn('FORWARD_WILDCARD', `${at}/${index}`, message, { hint: 'list every name' });
  });
}

/** Names of headers that are never meant as query parameters. */
const HEADERS_ONLY =
  /^(?:authorization|proxy-authorization|cookie|set-cookie|content-(?:type|length|encoding)|accept-(?:encoding|language)|user-agent|if-none-match|if-modified-since|cache-control|x-forwarded-\w+|x-request-id)$/i;
/** Headers that the gateway always sends itself, listed or not. */
const OWN_HEADERS =
  /^(?:host|user-agent|accept-encoding|content-(?:type|length|encoding)|transfer-encoding|x-forwarded-\w+)?$/i;
/**
 * Checks that forwarded names are in the right list, listed once, and can reach the backend.
 *
 * Codes: warnings FORWARD_HEADER_AS_QUERY, FORWARD_TWICE, FORWARD_NEVER.
 */
export const forwardedSlips: EndpointRule = (endpoint, pointer, _service, report, _written, known) => {
  checkLists(endpoint, pointer, report);
  endpoint.backend.forEach((backend, index) => {
    const at = `${pointer}/backend/${index}`;
    checkLists(backend, at, report);
    for (const field of ['input_headers', 'input_query_strings'] as const) {
      if (backend[field].length > 0) checkReach(field, endpoint, backend, pointer, at, known, report);
    }
  });
};

function checkLists(holder: EndpointConfig | BackendConfig, at: string, report: Report): void {
  holder.input_query_strings.forEach((name, index) => {
    if (!HEADERS_ONLY.test(name)) return;
    const message = `"${name}" is the name of a header, but input_query_strings lists query parameters`;
    report.warn('FORWARD_HEADER_AS_QUERY', `${at}/input_query_strings/${index}`, message, {
      hint: 'move it to input_headers',
    });
  });
  if (holder.input_headers.length < 2) return;
  const seen = new Map<string, number>();
  holder.input_headers.forEach((name, index) => {
    const first = seen.get(name.toLowerCase());
    if (first === undefined) {
      seen.set(name.toLowerCase(), index);
      return;
    }
    const message = `"${name}" is already listed as "${holder.input_headers[first]}": header names are case-insensitive`;
    const related = [`${at}/input_headers/${first}`];
    report.warn('FORWARD_TWICE', `${at}/input_headers/${index}`, message, { related });
  });
}

/**
 * Reports names in a backend's list that the endpoint's list does not contain: the backend's list is a second filter,
 * and can only pass names that the endpoint passes.
 */
function checkReach(
  field: 'input_headers' | 'input_query_strings',
  endpoint: EndpointConfig,
  backend: BackendConfig,
  pointer: string,
  at: string,
  known: KnownPlugins,
  report: Report,
): void {
  const passed = endpoint[field];
  const isChanged = [endpoint, backend].some(({ extra_config: extra }) => !leavesAlone(extra, 'requests', known));
  if (passed.includes('*') || isChanged) return;
  const isHeaders = field === 'input_headers';
  const form = (name: string) => (isHeaders ? name.toLowerCase() : name);
  const reaching = new Set(passed.map(form));
  backend[field].forEach((name, index) => {
    if (name === '*' || name === '' || reaching.has(form(name)) || (isHeaders && OWN_HEADERS.test(name))) return;
    const message = `"${name}" is never forwarded: ${field} of the endpoint does not include it`;
    report.warn('FORWARD_NEVER', `${at}/${field}/${index}`, message, {
      hint: `add it to ${field} of the endpoint`,
      related: [passed.length > 0 ? `${pointer}/${field}` : pointer],
    });
  });
}
