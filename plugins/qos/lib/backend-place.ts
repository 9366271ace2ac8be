import type { BackendSite, DataObject } from '#contract';

/**
 * Whose state it is: that of one backend object of the configuration. The pointer tells a backend from those nested in it;
 * the endpoint's number is left out, since another endpoint put before it changes nothing here.
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
