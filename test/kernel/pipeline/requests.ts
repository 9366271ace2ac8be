import { Call, HeaderBag, makeRequest, PipeRequest, Query, type RequestBody } from '#contract';

/** A request as backends receive it, for tests of single steps of the pipeline. */
export function pipeRequest(body: RequestBody | null = null): PipeRequest {
  const query = new Query();
  const headers = new HeaderBag();
  const client = makeRequest({ headers, ip: '127.0.0.1', host: 'api.test', body });
  return new PipeRequest(client, {}, query, headers, body);
}

/** A call without log. @param timeoutMs none by default. */
export function newCall(timeoutMs?: number): Call {
  return new Call(undefined, timeoutMs);
}
