import { getPath } from '#contract';
import { type EndpointRule, UNREAD } from './rule.ts';

/** Ways to combine parts in which equal keys are joined. */
const JOINING: ReadonlySet<unknown> = new Set(['deep', 'append']);

/**
 * Parts of one response do not take each other's place.
 *
 * Code: a warning, MERGE_GROUP.
 */
export const mergeConflicts: EndpointRule = (endpoint, pointer, _service, report) => {
  const { backend: backends } = endpoint;
  if (backends.length < 2) return;
  const groups = new Map<string, number>();
  backends.forEach(({ group, encoding, extra_config: extra }, index) => {
    if (!group || UNREAD.has(encoding)) return;
    // Of those only one answers, or none that is seen.
    if (Object.hasOwn(extra, 'backend/conditional') || getPath(extra, ['proxy', 'shadow']) === true) return;
    const first = groups.get(group);
    if (first === undefined) {
      groups.set(group, index);
      return;
    }
    if (JOINING.has(getPath(endpoint.extra_config, ['proxy', 'combiner']))) return;
    const message = `backend ${first} writes the group "${group}" too: what this backend answers takes its place`;
    report.warn('MERGE_GROUP', `${pointer}/backend/${index}/group`, message, {
      hint: 'a group of its own, or "combiner": "deep" in extra_config.proxy',
      related: [`${pointer}/backend/${first}/group`],
    });
  });
};
