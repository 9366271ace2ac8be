import type { AttackRequest, AttackResponse, EndpointConfig, SandboxRequest } from '#contract';

/** Sets a header; other headers of the same name are removed. */
export function withHeader(request: AttackRequest, name: string, value: string): AttackRequest {
  return { ...request, headers: [...without(request, name).headers, [name, value]] };
}

/** Adds a header, next to others of the same name. */
export function addHeader(request: AttackRequest, name: string, value: string): AttackRequest {
  return { ...request, headers: [...request.headers, [name, value]] };
}

export function without(request: AttackRequest, name: string): AttackRequest {
  const lower = name.toLowerCase();
  return { ...request, headers: request.headers.filter(([known]) => known.toLowerCase() !== lower) };
}

/** Appends a query parameter. @param value unencoded value. */
export function withQuery(request: AttackRequest, name: string, value: string): AttackRequest {
  const mark = request.target.includes('?') ? '&' : '?';
  return { ...request, target: `${request.target}${mark}${encodeURIComponent(name)}=${encodeURIComponent(value)}` };
}

/** Replaces the path, and keeps the query. */
export function withPath(request: AttackRequest, path: string): AttackRequest {
  const query = /\?.*$/s.exec(request.target)?.[0] ?? '';
  return { ...request, target: path + query };
}

export function pathOf({ target }: AttackRequest): string {
  return target.replace(/\?.*$/s, '');
}

/** All values of a header that a backend received. */
export function received({ headers }: SandboxRequest, name: string): string[] {
  const lower = name.toLowerCase();
  return headers.filter((_value, at) => at % 2 === 1 && headers[at - 1]!.toLowerCase() === lower);
}

/** The first value of a header of a response. */
export function headerOf({ headers }: Pick<AttackResponse, 'headers'>, name: string): string | undefined {
  const lower = name.toLowerCase();
  return headers.find(([known]) => known.toLowerCase() === lower)?.[1];
}

/** True if the endpoint served the request: a backend received it, or a component responded to it. */
export function isServed({ status }: Pick<AttackResponse, 'status'>): boolean {
  return status >= 200 && status < 300;
}

/** True for an endpoint whose requests have a body. */
export function takesBody({ method }: EndpointConfig): boolean {
  return method === 'POST' || method === 'PUT' || method === 'PATCH';
}
