import { type HeaderBag, makeRequest, PipeRequest, Query, type RequestBody } from '#contract';

/** Creates a request of the gateway's own, which no client has sent. @param headers become those of the request. */
export function requestTo(url: URL, method: string, headers: HeaderBag, body: RequestBody | null): PipeRequest {
  const request = new PipeRequest(makeRequest({}), {}, new Query(), headers, body);
  request.method = method;
  request.origin = url.origin;
  request.target = url.pathname + url.search;
  return request;
}
