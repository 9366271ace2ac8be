/** Configuration with very many endpoints, and a path that the last one serves. */
export interface ManyEndpoints {
  readonly endpoints: readonly object[];
  readonly path: string;
}

/**
 * The same mix at every size: half of the paths static, half with one or two variables, some under shared prefixes; one
 * to three backends; every third backend with `allow`, every fifth with `mapping`.
 */
export function manyEndpoints(count: number): ManyEndpoints {
  const endpoints = Array.from({ length: count }, (_, index) => ({
    endpoint: template(index),
    method: 'GET',
    backend: Array.from({ length: 1 + (index % 3) }, (_, section) => backend(index, section)),
  }));
  return { endpoints, path: pathOf(count - 1) };
}

/** A path that the endpoint serves. */
export function pathOf(index: number): string {
  return template(index).replace(/\{\w+\}/g, '42');
}

export function template(index: number): string {
  const area = `area-${index % 50}`;
  switch (index % 4) {
    case 0:
      return `/${area}/page-${index}`;
    case 1:
      return `/v1/${area}/things-${index}/{id}`;
    case 2:
      return `/v1/${area}/list-${index}`;
    default:
      return `/v2/{tenant}/orders-${index}/{id}`;
  }
}

function backend(index: number, section: number): object {
  const number = index + section;
  const withId = index % 2 === 1;
  return {
    url_pattern: withId ? `/service-${number % 20}/{id}` : `/service-${number % 20}`,
    ...(section > 0 && { group: `part_${section}` }),
    ...(number % 3 === 0 && { allow: ['id', 'name', 'address.city', 'tags'] }),
    ...(number % 5 === 0 && { mapping: { name: 'full_name' } }),
  };
}
