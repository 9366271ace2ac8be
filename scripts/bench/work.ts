/** What the scenarios ask of a program written by hand: which paths of the backend it fetches, and what becomes of the data. */
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

/** Those that are answered without a backend. */
export const own: Readonly<Record<string, { readonly status: number; readonly data: Data }>> = {
  static: { status: 200, data: { message: 'pong' } },
  'not-found': { status: 404, data: {} },
};

/** By scenario, for those that decode one object; `no-op` passes its bytes, `merge` joins all in order. */
export const changes: Readonly<Record<string, (data: Data) => Data>> = { json: same, filter, 'json-64k': same };

function same(data: Data): Data {
  return data;
}

function filter({ id, name, email, address, tags }: Data): Data {
  const { city, position } = address as Data;
  return { user: { id, full_name: name, contact: email, address: { city, position }, tags } };
}
