/** A recorded request: the response of its backend, and the response to the client. */
export interface RecordedCall {
  /** Path and query of the client's request. */
  readonly path: string;
  readonly endpoint: string;
  /** URL of the backend. */
  readonly url: string;
  /** Default: 200. */
  readonly status?: number;
  /** Body that the backend returned. Default: none. */
  readonly body?: unknown;
  /** Body that the client received. Default: the same. */
  readonly shown?: unknown;
  /** Headers of the client's request. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A HAR file as telemetry/recorder writes it. */
export function recordingOf(calls: readonly RecordedCall[]): object {
  return { log: { entries: calls.flatMap(entriesOf) } };
}

function entriesOf(call: RecordedCall, at: number): object[] {
  const { path, endpoint, url, body, shown = body } = call;
  const link = { id: String(at), endpoint };
  return [
    entry(call, link, `http://api.test${path}`, shown, at),
    entry({ ...call, headers: {} }, { ...link, backend: 0 }, url, body, at),
  ];
}

function entry(
  { status = 200, headers = {} }: RecordedCall,
  link: object,
  url: string,
  body: unknown,
  at: number,
): object {
  const sent = Object.entries({ Host: 'api.test', ...headers }).map(([name, value]) => ({ name, value }));
  return {
    startedDateTime: new Date(Date.UTC(2026, 0, 1) + at).toISOString(),
    time: 1,
    request: { method: 'GET', url, httpVersion: 'HTTP/1.1', headers: sent },
    response: {
      status,
      headers: body === undefined ? [] : [{ name: 'Content-Type', value: 'application/json; charset=utf-8' }],
      content: body === undefined ? {} : { text: JSON.stringify(body) },
    },
    _sluice: link,
  };
}
