import { isUnread, meaningsOf } from '../known-plugins.ts';
import type { EndpointRule } from './rule.ts';

/**
 * Parts of one response do not take each other's place.
 *
 * Code: a warning, MERGE_GROUP.
 */
export const mergeConflicts: EndpointRule = (endpoint, pointer, _service, report, _written, known) => {
  const { backend: backends } = endpoint;
  if (backends.length < 2) return;
  const groups = new Map<string, number>();
  backends.forEach(({ group, encoding, extra_config: extra }, index) => {
    if (!group || isUnread(encoding, known)) return;
    // Of those only one answers, or none that is seen.
    if (meaningsOf(extra, 'backend', known).some(({ meaning }) => meaning.apart)) return;
    const first = groups.get(group);
    if (first === undefined) {
      groups.set(group, index);
      return;
    }
    if (meaningsOf(endpoint.extra_config, 'endpoint', known).some(({ meaning }) => meaning.joins)) return;
    const message = `backend ${first} writes the group "${group}" too: what this backend answers takes its place`;
    report.warn('MERGE_GROUP', `${pointer}/backend/${index}/group`, message, {
      hint: ['a group of its own', known.compatibility.remedies?.joined].filter(Boolean).join(', or '),
      related: [`${pointer}/backend/${first}/group`],
    });
  });
};
