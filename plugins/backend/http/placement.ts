import { type BackendSite, type EndpointConfig, getKey, isObject } from '#contract';

/** True when the backend's answer is not decoded, so that no failure can be made of its status. */
export function isPassedThrough({ endpoint, backend, encoding }: BackendSite<unknown>): boolean {
  return [endpoint.output_encoding, backend.encoding].some((name) => encoding(name)?.raw);
}

/** True when a backend declared before the given one puts its errors under the same name. */
export function sharesAlias(endpoint: EndpointConfig, index: number, alias: string): boolean {
  return endpoint.backend.slice(0, index).some((earlier) => {
    const own = getKey(earlier.extra_config, 'backend/http');
    return isObject(own) && getKey(own, 'return_error_details') === alias;
  });
}

/** True when every backend is called under a condition only: the one that is chosen may well be alone. */
export function isOneOfConditional({ backend }: EndpointConfig): boolean {
  return backend.every(({ extra_config: components }) => Object.hasOwn(components, 'backend/conditional'));
}
