import { isHeaderName } from '#contract';
import type { Report } from '../report.ts';
import type { EndpointRule } from './rule.ts';

/**
 * The lists of what is forwarded hold what can be forwarded.
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
    tellWildcards(names, `${pointer}/${field}`, report);
    if (names.length < 2 || !names.includes('*')) continue;
    const message = `'*' in ${field} lets everything through: the other names have no effect`;
    report.warn('FORWARD_ALL_AND_SOME', `${pointer}/${field}`, message, { hint: '["*"]', fix: { value: ['*'] } });
  }
  endpoint.backend.forEach((backend, position) => {
    const at = `${pointer}/backend/${position}`;
    const dropsAll = backend.input_headers.length === 1 && backend.input_headers[0] === '';
    if (!dropsAll) headerNames(backend.input_headers, `${at}/input_headers`);
    for (const field of ['input_headers', 'input_query_strings'] as const) {
      tellWildcards(backend[field], `${at}/${field}`, report);
      if (!backend[field].includes('*')) continue;
      const message = `'*' has no special meaning in ${field} of a backend: an empty list lets everything through`;
      report.warn('FORWARD_STAR', `${at}/${field}`, message, { hint: '[]' });
    }
  });
};

/** Names are compared as they are: a star in one stands for itself. */
function tellWildcards(names: readonly string[], at: string, report: Report): void {
  names.forEach((name, index) => {
    if (name === '*' || !/^\*|\*$/.test(name)) return;
    const message = `"${name}" is one name, not a pattern: only "*" alone stands for all`;
    report.warn('FORWARD_WILDCARD', `${at}/${index}`, message, { hint: 'list every name' });
  });
}
