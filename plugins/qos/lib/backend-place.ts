import type { BackendSite, DataObject } from '#contract';

/**
 * Key of the state of one backend object in the configuration. The pointer distinguishes a backend from those nested in
 * it; the endpoint's index is omitted, so that inserting another endpoint before it changes nothing.
 */
export function placeOf({ endpoint, backend, index, pointer }: BackendSite<unknown>): DataObject {
  return {
    method: endpoint.method,
    endpoint: endpoint.endpoint,
    index,
    urlPattern: backend.url_pattern,
    within: pointer.replace(/^\/endpoints\/\d+/, ''),
  };
}
