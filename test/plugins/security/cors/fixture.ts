import type { Gateway } from '../../../../kernel/index.ts';

/** The configuration of the test cases. */
export const config = {
  allow_origins: ['*'],
  allow_methods: ['POST', 'GET'],
  allow_headers: ['Origin', 'Authorization', 'Content-Type'],
  expose_headers: ['content-length'],
  max_age: '12h',
};

export const origin = 'https://a.io';

/** A preflight request. */
export function preflight(method: string, headers: Record<string, string | string[]> = {}) {
  return { Origin: origin, 'Access-Control-Request-Method': method, ...headers };
}

/** Status and CORS headers of a response, under short names. */
export async function ask(
  gateway: Gateway,
  method: string,
  url: string,
  headers: Record<string, string | string[]> = { Origin: origin },
) {
  const response = await gateway.inject({ method: method as 'GET', url, headers });
  const said = Object.entries(response.headers).filter(([name]) => name.startsWith('access-control-'));
  return {
    status: response.statusCode,
    vary: response.headers.vary,
    headers: response.headers,
    cors: Object.fromEntries(said.map(([name, value]) => [name.slice('access-control-'.length), value])),
  };
}
