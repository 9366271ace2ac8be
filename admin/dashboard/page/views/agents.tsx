import type { Schemas } from '../api/client.ts';
import { useRead } from '../api/use-read.ts';
import { compact, count, milliseconds, time } from '../format.ts';
import { Scroll } from '../parts/scroll.tsx';
import { Badge, Empty, Failure, type Tone } from '../parts/state.tsx';
import { linkTo } from '../route.ts';

type Agent = Schemas['Agent'];
type Status = Schemas['AgentStatus'];
type Route = Schemas['Route'];

/** Maximum number of endpoints with streams that are shown. */
const SHOWN = 200;

/** The async agents with their lag and failures, and the open WebSockets and event streams by endpoint. */
export function Agents() {
  const agents = useRead('/v1/agents', {}, 2000);
  const streams = useRead('/v1/routes', { streaming: true, limit: SHOWN }, 2000);
  return (
    <>
      <h1>Agents and streams</h1>
      <Failure error={agents.error ?? streams.error} />
      <section>
        <h2>Async agents</h2>
        {agents.body?.agents.length === 0 && (
          <Empty>
            The configuration has no async agent. To consume a queue, add one under <code>async_agent</code> in{' '}
            <a href="#/configuration">Configuration</a>.
          </Empty>
        )}
        {agents.body?.agents.map((agent) => (
          <AgentCard key={agent.pointer} agent={agent} />
        ))}
      </section>
      <section>
        <h2>Streams</h2>
        {streams.body && <Streams routes={streams.body.routes} isCut={streams.body.cursor !== null} />}
      </section>
    </>
  );
}

const tones: Readonly<Record<Status['state'], Tone>> = { connected: 'good', connecting: 'warning', stopped: 'bad' };

function AgentCard({ agent }: { readonly agent: Agent }) {
  const { name, driver, topic, workers, backends, status, pointer, line } = agent;
  const place = linkTo('configuration', { pointer, ...(line !== undefined && { line: String(line) }) });
  return (
    <div class="card">
      <h3>
        {name} {status && <Badge tone={tones[status.state]}>{status.state}</Badge>}
      </h3>
      <p class="muted">
        <code>{driver}</code> consumes <code>{topic}</code> with {count(workers, 'worker')} and calls{' '}
        {backends.join(', ')}. <a href={place}>Show its configuration</a>
      </p>
      {status ? <AgentFigures status={status} workers={workers} /> : <p>The driver does not report its state.</p>}
    </div>
  );
}

function AgentFigures({ status, workers }: { readonly status: Status; readonly workers: number }) {
  const { state, since, retries, inProgress, waiting, lagMs, done, failed, discarded } = status;
  const { lastSuccessAt, lastFailure } = status;
  return (
    <>
      <dl class="facts">
        <div>
          <dt>
            {state === 'connected' ? 'Connected since' : state === 'stopped' ? 'Stopped since' : 'Connecting since'}
          </dt>
          <dd>{time(since)}</dd>
        </div>
        <div>
          <dt>Failed attempts to connect</dt>
          <dd>{compact(retries)} in a row</dd>
        </div>
        <div>
          <dt>Lag</dt>
          <dd>
            {milliseconds(lagMs)}, {count(waiting, 'message')} waiting
          </dd>
        </div>
        <div>
          <dt>In progress</dt>
          <dd>
            {compact(inProgress)} of {count(workers, 'worker')}
          </dd>
        </div>
        <div>
          <dt>Results</dt>
          <dd>
            {compact(done)} done, {compact(failed)} failed, {compact(discarded)} discarded
          </dd>
        </div>
        <div>
          <dt>Last success</dt>
          <dd>{lastSuccessAt === null ? 'none yet' : time(lastSuccessAt)}</dd>
        </div>
      </dl>
      {state === 'stopped' && (
        <p class="notice bad">
          The agent made as many attempts to connect as <code>max_retries</code> allows. It starts again with the next
          change of the configuration.
        </p>
      )}
      {lastFailure && (
        <p class={`notice ${state === 'connected' ? 'warning' : 'bad'}`}>
          Last failure at {time(lastFailure.at)}: {lastFailure.message}
        </p>
      )}
    </>
  );
}

function Streams({ routes, isCut }: { readonly routes: readonly Route[]; readonly isCut: boolean }) {
  if (routes.length === 0) {
    return (
      <Empty>
        No endpoint forwards WebSockets or event streams. Add <code>websocket</code> to the <code>extra_config</code> of
        an endpoint, or set its <code>output_encoding</code> to <code>sse</code>.
      </Empty>
    );
  }
  const sorted = routes.toSorted((a, b) => (b.counters?.streams ?? 0) - (a.counters?.streams ?? 0));
  return (
    <>
      <Scroll label="Streams">
        <table>
          <thead>
            <tr>
              <th scope="col">Endpoint</th>
              <th scope="col">Kind</th>
              <th scope="col">Open now</th>
              <th scope="col">Requests</th>
              <th scope="col">Errors</th>
            </tr>
          </thead>
          <tbody>
            {sorted.map((route) => (
              <tr key={route.id}>
                <td>
                  <a href={linkTo('endpoint', { id: route.id })}>{route.id}</a>
                </td>
                <td>{kindOf(route)}</td>
                <td>{count(route.counters?.streams ?? 0, 'stream')}</td>
                <td>{compact(route.counters?.calls ?? 0)}</td>
                <td>{compact(route.counters?.errors ?? 0)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {isCut && <p class="muted">The first {SHOWN} endpoints are shown.</p>}
    </>
  );
}

function kindOf({ namespaces, backends, outputEncoding }: Route): string {
  const all = [namespaces, ...backends.map((backend) => backend.namespaces)].flat();
  return all.includes('websocket') ? 'WebSocket' : outputEncoding === 'sse' ? 'Server-sent events' : outputEncoding;
}
