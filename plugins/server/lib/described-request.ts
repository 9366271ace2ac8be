import { type ClientRequest, canonicalHeaderName } from '#contract';

const credentials = new Set(['authorization', 'cookie', 'proxy-authorization', 'x-api-key']);

/** All headers with their values. @param masked hides credentials. */
export function headerLists(request: ClientRequest, masked: boolean): Record<string, string[]> {
  const lists = new Map<string, string[]>();
  for (const [name, value] of request.headers) {
    const shown = masked && credentials.has(name.toLowerCase()) ? '***' : value;
    const canonical = canonicalHeaderName(name);
    const list = lists.get(canonical);
    if (list) list.push(shown);
    else lists.set(canonical, [shown]);
  }
  return Object.fromEntries(lists);
}

/** Path and query as on the wire. */
export function targetOf(request: ClientRequest): string {
  return request.search === '' ? request.path : `${request.path}?${request.search}`;
}

/** The body as text; empty without a body. */
export async function textOf(request: ClientRequest): Promise<string> {
  return request.body ? Buffer.from(await request.body.bytes()).toString() : '';
}
