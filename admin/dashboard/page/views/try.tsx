import { useState } from 'preact/hooks';
import { ApiError, type Schemas, send } from '../api/client.ts';
import { milliseconds, prettyJson } from '../format.ts';
import { Badge, Failure } from '../parts/state.tsx';

type Tried = Schemas['TriedResponse'];

/** The part of an explanation that is shown. */
interface Explanation {
  readonly why: string;
  readonly match: { readonly kind: string; readonly route?: Schemas['Route'] };
  readonly service: readonly string[];
  readonly stages: readonly { readonly namespace: string }[];
  readonly forwarded: readonly {
    readonly method: string;
    readonly urls: readonly string[];
    readonly headers: readonly (readonly [string, string])[];
    readonly stages: readonly { readonly namespace: string }[];
    readonly refused: string | null;
    readonly clientHeaders: readonly { readonly name: string; readonly passes: boolean; readonly why: string | null }[];
  }[];
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

/** Sends a request through the gateway, and explains how it is processed. */
export function Try({ path: initial, method: given, canSend }: { path: string; method: string; canSend: boolean }) {
  const [method, setMethod] = useState(given);
  const [path, setPath] = useState(initial);
  const [headers, setHeaders] = useState('');
  const [body, setBody] = useState('');
  const [explanation, setExplanation] = useState<Explanation | null>(null);
  const [response, setResponse] = useState<Tried | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);

  const run = async (operations: readonly string[]): Promise<void> => {
    setBusy(true);
    setError(null);
    setResponse(null);
    try {
      const sample = JSON.stringify({ method, path, headers: parseHeaders(headers), body });
      const results = await Promise.all(operations.map((operation) => post(operation, sample)));
      setExplanation(results[0] as Explanation);
      setResponse((results[1] as Tried | undefined) ?? null);
    } catch (failure) {
      setError(failure instanceof ApiError ? failure : new ApiError(0, String(failure)));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <h1>Try</h1>
      <form
        class="try"
        onSubmit={(event) => {
          event.preventDefault();
          run(canSend ? ['/v1/explain', '/v1/try'] : ['/v1/explain']);
        }}
      >
        <label>
          Method
          <select value={method} onChange={(event) => setMethod(event.currentTarget.value)}>
            {methods.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label class="wide">
          Path and query
          <input
            required
            pattern="/.*"
            title="A path that begins with a slash"
            value={path}
            onInput={(event) => setPath(event.currentTarget.value)}
          />
        </label>
        <label class="full">
          Headers, one in each line
          <textarea rows={3} value={headers} onInput={(event) => setHeaders(event.currentTarget.value)} />
        </label>
        <label class="full">
          Body
          <textarea rows={4} value={body} onInput={(event) => setBody(event.currentTarget.value)} />
        </label>
        <div class="toolbar full">
          {canSend && (
            <button type="submit" class="primary" disabled={busy}>
              Send
            </button>
          )}
          <button type={canSend ? 'button' : 'submit'} disabled={busy} onClick={() => canSend && run(['/v1/explain'])}>
            Explain only
          </button>
        </div>
      </form>
      <Failure error={error} />
      {response && <ResponseView response={response} />}
      {explanation && <ExplanationView explanation={explanation} />}
    </>
  );
}

async function post(path: string, body: string): Promise<unknown> {
  const response = await send(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
  return response.json();
}

function parseHeaders(text: string): Record<string, string[]> {
  const headers: Record<string, string[]> = Object.create(null);
  for (const line of text.split('\n')) {
    const at = line.indexOf(':');
    if (at < 1) continue;
    const name = line.slice(0, at).trim();
    headers[name] = [...(headers[name] ?? []), line.slice(at + 1).trim()];
  }
  return headers;
}

function ResponseView({ response: { status, headers, body, truncated, durationMs } }: { readonly response: Tried }) {
  return (
    <section aria-live="polite">
      <h2>Response</h2>
      <p>
        <Badge tone={status < 400 ? 'good' : status < 500 ? 'warning' : 'bad'}>{status}</Badge> after{' '}
        {milliseconds(durationMs)}
      </p>
      <pre>{headers.map(([name, value]) => `${name}: ${value}`).join('\n')}</pre>
      <pre>{prettyJson(body)}</pre>
      {truncated && <p class="notice warning">The body is cut after 1 MiB or 10 seconds.</p>}
    </section>
  );
}

function ExplanationView({ explanation: { why, match, service, stages, forwarded } }: { explanation: Explanation }) {
  return (
    <section>
      <h2>Explanation</h2>
      <p>
        {match.route && <strong>{match.route.id}: </strong>}
        {why}
      </p>
      {[...service, ...stages.map(({ namespace }) => namespace)].length > 0 && (
        <p>Components: {[...service, ...stages.map(({ namespace }) => namespace)].join(' → ')}</p>
      )}
      {forwarded.map(({ method, urls, headers, stages, refused, clientHeaders }) => (
        <div class="card" key={urls.join()}>
          <h3>
            {method} {urls.join(' or ')}
          </h3>
          {refused !== null && <p class="notice warning">{refused}</p>}
          {stages.length > 0 && <p>Components: {stages.map(({ namespace }) => namespace).join(' → ')}</p>}
          <pre>{headers.map(([name, value]) => `${name}: ${value}`).join('\n')}</pre>
          {clientHeaders.some(({ passes }) => !passes) && (
            <ul>
              {clientHeaders
                .filter(({ passes }) => !passes)
                .map(({ name, why }) => (
                  <li key={name}>
                    <code>{name}</code> is not forwarded: {why}
                  </li>
                ))}
            </ul>
          )}
        </div>
      ))}
    </section>
  );
}
