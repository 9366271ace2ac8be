/** Definition of the scenarios for hand-written programs: the backend paths to fetch, and the transformation of the data. */
export type Data = Record<string, unknown>;

export const paths: Readonly<Record<string, readonly string[]>> = {
  'no-op': ['/small'],
  json: ['/small'],
  filter: ['/small'],
  merge: ['/part/a', '/part/b', '/part/c'],
  'json-64k': ['/large'],
  'echo-1m': ['/echo'],
  'echo-100m': ['/echo'],
};

/** Scenarios served without a backend. */
export const own: Readonly<Record<string, { readonly status: number; readonly data: Data }>> = {
  static: { status: 200, data: { message: 'pong' } },
  'not-found': { status: 404, data: {} },
};

/** Transformations by scenario, for scenarios that decode one object; `no-op` passes its bytes, `merge` merges all in order. */
export const changes: Readonly<Record<string, (data: Data) => Data>> = { json: same, filter, 'json-64k': same };

function same(data: Data): Data {
  return data;
}

function filter({ id, name, email, address, tags }: Data): Data {
  const { city, position } = address as Data;
  return { user: { id, full_name: name, contact: email, address: { city, position }, tags } };
}
