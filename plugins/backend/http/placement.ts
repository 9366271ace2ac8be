import { type BackendSite, type EndpointConfig, getKey, isObject } from '#contract';

/** Whether the backend's response is passed through undecoded, so that its status cannot be reported as a failure. */
export function isPassedThrough({ endpoint, backend, encoding }: BackendSite<unknown>): boolean {
  return [endpoint.output_encoding, backend.encoding].some((name) => encoding(name)?.raw);
}

/** Whether an earlier backend reports its errors under the same name. */
export function sharesAlias(endpoint: EndpointConfig, index: number, alias: string): boolean {
  return endpoint.backend.slice(0, index).some((earlier) => {
    const own = getKey(earlier.extra_config, 'backend/http');
    return isObject(own) && getKey(own, 'return_error_details') === alias;
  });
}

/** Whether every backend is conditional, so that a single one may be called. */
export function isOneOfConditional({ backend }: EndpointConfig): boolean {
  return backend.every(({ extra_config: components }) => Object.hasOwn(components, 'backend/conditional'));
}
