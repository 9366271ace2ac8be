import { useState } from 'preact/hooks';
import type { Endpoint } from '../../api/use-endpoints.ts';
import type { Observed, ObservedRequest } from '../../api/use-observation.ts';
import { compact, milliseconds, time } from '../../format.ts';
import { Badge, Empty } from '../../parts/state.tsx';
import { VirtualList } from '../../parts/virtual-list.tsx';
import { RequestDetails, toneOf } from './request-details.tsx';
import { samplePath } from './sample-path.ts';

export interface RequestsProps {
  readonly endpoint: Endpoint;
  readonly observed: Observed;
  /** Whether the token permits to see headers and bodies. */
  readonly showsMessages: boolean;
}

/** The slowest recent requests of an endpoint, and the stream of its live requests. */
export function Requests({ endpoint, observed, showsMessages }: RequestsProps) {
  const [chosen, setChosen] = useState<ObservedRequest | null>(null);
  const [paused, setPaused] = useState<readonly ObservedRequest[] | null>(null);
  const { latest, requests, slowest } = observed;
  if (slowest.length === 0) {
    return (
      <section>
        <h2>Requests</h2>
        <Empty>
          No traffic since this view was opened. Send a request: <code>{curlOf(endpoint, latest)}</code>
        </Empty>
      </section>
    );
  }
  const list = paused ?? requests;
  const row = (request: ObservedRequest) => (
    <RequestRow request={request} isChosen={request.id === chosen?.id} onChoose={() => setChosen(request)} />
  );
  return (
    <>
      <section>
        <h2>Slowest recent requests</h2>
        <p class="muted">Of the last 15 minutes, since this view was opened.</p>
        <ul class="requests">
          {slowest.slice(0, 10).map((request) => (
            <li key={request.id}>{row(request)}</li>
          ))}
        </ul>
      </section>
      <section>
        <h2>Live requests</h2>
        <div class="toolbar">
          <button type="button" aria-pressed={paused !== null} onClick={() => setPaused(paused ? null : requests)}>
            Pause
          </button>
          <span class="muted">
            {compact(list.length)} sampled, latest first; credentials are masked. Choose one for its details.
          </span>
        </div>
        <VirtualList label="Live requests" items={list} rowHeight={34} keyOf={({ id }) => id} row={row} />
      </section>
      {chosen && (
        <RequestDetails
          request={chosen}
          endpoint={endpoint}
          stages={latest?.stages ?? null}
          showsMessages={showsMessages}
          onClose={() => setChosen(null)}
        />
      )}
    </>
  );
}

interface RequestRowProps {
  readonly request: ObservedRequest;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}

function RequestRow({ request, isChosen, onChoose }: RequestRowProps) {
  const { startedAt, method, target, status, durationMs, completed } = request;
  return (
    <button type="button" class="request-row" aria-pressed={isChosen} onClick={onChoose}>
      <Badge tone={toneOf(status)}>{status}</Badge>
      <span class="number">{milliseconds(durationMs)}</span>
      <span class="target">
        {method} {target}
        {!completed && ' (the client disconnected)'}
      </span>
      <time class="muted">{time(startedAt)}</time>
    </button>
  );
}

function curlOf({ method, pattern }: Endpoint, latest: Observed['latest']): string {
  const address = `${latest?.secure ? 'https' : 'http'}://${location.hostname}:${latest?.port ?? 8080}`;
  const option = method === 'GET' ? '' : `-X ${method} `;
  return `curl -i ${option}${address}${samplePath(pattern)}`;
}
