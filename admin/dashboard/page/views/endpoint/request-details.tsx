import { useEffect, useRef } from 'preact/hooks';
import type { Schemas } from '../../api/client.ts';
import type { Endpoint } from '../../api/use-endpoints.ts';
import type { Observation, ObservedRequest } from '../../api/use-observation.ts';
import { milliseconds, prettyJson, time } from '../../format.ts';
import { Badge, type Tone } from '../../parts/state.tsx';

export interface RequestDetailsProps {
  readonly request: ObservedRequest;
  readonly endpoint: Endpoint;
  readonly stages: Observation['stages'] | null;
  /** Whether the token permits to see headers and bodies. */
  readonly showsMessages: boolean;
  readonly onClose: () => void;
}

/** One request: the time of each stage, its headers and its bodies. */
export function RequestDetails({ request, endpoint, stages, showsMessages, onClose }: RequestDetailsProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { id, startedAt, method, target, status, durationMs, requestId, sample } = request;
  useEffect(() => heading.current?.focus(), [id]);
  return (
    <section class="card">
      <h2 ref={heading} tabIndex={-1}>
        {method} {target}
      </h2>
      <p>
        <Badge tone={toneOf(status)}>{status}</Badge> after {milliseconds(durationMs)}, at {time(startedAt)}
        {requestId !== null && (
          <>
            , request ID <code>{requestId}</code>
          </>
        )}
      </p>
      {sample === null && <p>This request was not sampled: neither its stages nor its headers and bodies are known.</p>}
      {sample?.times && stages && <Times times={sample.times} stages={stages} endpoint={endpoint} />}
      {sample && !showsMessages && <p>Headers and bodies require a token with the scope secrets.</p>}
      {sample?.request && <Message title="Request" message={sample.request} />}
      {sample?.response && <Message title="Response" message={sample.response} />}
      <button type="button" onClick={onClose}>
        Close
      </button>
    </section>
  );
}

export function toneOf(status: number): Tone {
  return status >= 500 || status < 100 ? 'bad' : status >= 400 ? 'warning' : 'good';
}

interface TimesProps {
  readonly times: Schemas['ObservedTimes'];
  readonly stages: Observation['stages'];
  readonly endpoint: Endpoint;
}

function Times({ times: { aroundUs, backends }, stages, endpoint }: TimesProps) {
  const inWords = (us: number | null) => (us === null ? 'not timed' : milliseconds(us / 1000));
  return (
    <dl class="stage-times">
      {aroundUs.map((us, at) => (
        <div key={at}>
          <dt>{stages.around[at]?.namespace}</dt>
          <dd>{inWords(us)}</dd>
        </div>
      ))}
      {backends.map(({ calls, totalUs, stagesUs }, index) => (
        <div key={`backend${index}`}>
          <dt>
            Backend {index + 1}: {endpoint.backends[index]?.method} {endpoint.backends[index]?.urlPattern}
          </dt>
          <dd>{calls === 0 ? 'not called' : `${inWords(totalUs)}${calls > 1 ? ` in ${calls} calls` : ''}`}</dd>
          {calls > 0 &&
            stagesUs.map((us, at) => (
              <dd key={at} class="muted">
                {stages.backends[index]?.stages[at]?.namespace} {inWords(us)}
              </dd>
            ))}
        </div>
      ))}
    </dl>
  );
}

function Message({ title, message }: { readonly title: string; readonly message: Schemas['ObservedMessage'] }) {
  const { headers, body, omitted } = message;
  return (
    <>
      <h3>{title}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>{headers.map(([name, value]) => `${name}: ${value}`).join('\n') || 'no headers'}</pre>
      {omitted !== null && <p class="muted">The body is omitted: {omitted}.</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      {body !== null && body !== '' && <pre tabIndex={0}>{prettyJson(body)}</pre>}
    </>
  );
}
