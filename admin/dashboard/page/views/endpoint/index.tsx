import { useEffect, useState } from 'preact/hooks';
import { type ApiError, send } from '../../api/client.ts';
import { type Endpoint, useEndpoints } from '../../api/use-endpoints.ts';
import { type Observed, useObservation } from '../../api/use-observation.ts';
import { useRead } from '../../api/use-read.ts';
import { compact, percent, prettyJson } from '../../format.ts';
import { Empty, Failure, Figure } from '../../parts/state.tsx';
import { TrafficCharts } from '../../parts/traffic-charts.tsx';
import { Pipe } from './pipe.tsx';
import { Requests } from './requests.tsx';
import { States } from './states.tsx';
import { Words } from './words.tsx';

export interface EndpointViewProps {
  readonly id: string;
  /** Whether the token permits to see headers and bodies of requests. */
  readonly showsMessages: boolean;
}

/** One endpoint: what it does, its traffic, the times of its pipe, the states of its components, and its requests. */
export function EndpointView({ id, showsMessages }: EndpointViewProps) {
  const status = useRead('/v1/status', {}, 5000);
  const revision = status.body?.revision;
  const { list, isComplete, error } = useEndpoints(revision);
  const endpoint = list.find((one) => one.id === id);
  if (!endpoint) {
    return (
      <>
        <h1>{id}</h1>
        <Failure error={error} />
        {isComplete ? (
          <Empty>
            The serving configuration does not contain this endpoint. <a href="#/topology">Show all endpoints</a>.
          </Empty>
        ) : (
          <Empty>Loading the endpoint</Empty>
        )}
      </>
    );
  }
  return (
    <>
      <h1>{id}</h1>
      <Words endpoint={endpoint} revision={revision} />
      <Live key={id} endpoint={endpoint} showsMessages={showsMessages} />
      <Lines endpoint={endpoint} revision={revision} />
    </>
  );
}

/** The parts that change while the view is open. */
function Live({ endpoint, showsMessages }: { readonly endpoint: Endpoint; readonly showsMessages: boolean }) {
  const observed = useObservation(endpoint.id);
  const { latest, error } = observed;
  return (
    <>
      <Failure error={error} />
      <Traffic endpoint={endpoint} observed={observed} />
      <Pipe endpoint={endpoint} observed={observed} />
      <States endpoint={endpoint} states={latest?.states ?? []} />
      <Requests endpoint={endpoint} observed={observed} showsMessages={showsMessages} />
    </>
  );
}

function Traffic({ endpoint, observed: { latest, traffic } }: { endpoint: Endpoint; observed: Observed }) {
  const { calls, errors, streams } = latest?.counters ?? endpoint.counters ?? { calls: 0, errors: 0, streams: 0 };
  if (calls === 0) return null;
  const share = errors / calls;
  return (
    <>
      <dl class="figures">
        <Figure label="Open streams" value={compact(streams)} />
        <Figure label="Requests since the start" value={compact(calls)} />
        <Figure
          label="Errors since the start"
          value={`${compact(errors)} (${percent(share)})`}
          tone={share > 0.01 ? 'bad' : 'plain'}
        />
      </dl>
      {share > 0.01 && (
        <p class="muted">
          Errors are responses with a status of 500 or above; rejections by a component do not count. The requests below
          show what the backends responded.
        </p>
      )}
      <TrafficCharts samples={traffic} statusClasses={latest?.statusClasses ?? []} />
    </>
  );
}

/** The lines of an endpoint in its file. */
function Lines({ endpoint, revision }: { readonly endpoint: Endpoint; readonly revision: number | undefined }) {
  const { pointer, file, line } = endpoint;
  const [text, setText] = useState<string | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  useEffect(() => {
    const controller = new AbortController();
    // The effective configuration has its endpoints in another order.
    send('/v1/config', { query: { pointer, form: 'source' }, signal: controller.signal })
      .then((response) => response.text())
      .then((part) => setText(prettyJson(part)))
      .catch((failure) => controller.signal.aborted || setError(failure));
    return () => controller.abort();
  }, [pointer, revision]);
  return (
    <section>
      <h2>Configuration</h2>
      <p class="muted">
        As written{file !== undefined && ` in ${file.split('/').at(-1)}, from line ${line}`}; secrets are masked.
      </p>
      <Failure error={error} />
      {text !== null && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        <pre class="tall" tabIndex={0}>
          {text}
        </pre>
      )}
    </section>
  );
}
