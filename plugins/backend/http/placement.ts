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

/** Whether each backend is conditional or the only backend of a split variant, so that a single one may be called. */
export function isOneOfConditional({ backend, extra_config: around }: EndpointConfig): boolean {
  const alone = variantsAlone(around['proxy/split']);
  return backend.every(
    ({ extra_config: components }, at) => Object.hasOwn(components, 'backend/conditional') || alone.includes(at),
  );
}

/** Positions of the backends in variants of a split that have one backend each. */
function variantsAlone(split: unknown): readonly unknown[] {
  const variants = isObject(split) ? getKey(split, 'variants') : undefined;
  if (!Array.isArray(variants)) return [];
  const lists = variants.map((variant) => (isObject(variant) ? getKey(variant, 'backends') : undefined));
  return lists.flatMap((list) => (Array.isArray(list) && list.length === 1 ? list : []));
}
