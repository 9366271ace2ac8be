import { useEffect, useState } from 'preact/hooks';
import type { Body } from '../api/client.ts';
import type { GatewayEvent } from '../api/events.ts';
import { useRead } from '../api/use-read.ts';
import { ratesOf, type TrafficSample, useTraffic } from '../api/use-traffic.ts';
import { bytes, compact, count, duration, milliseconds, percent, time } from '../format.ts';
import { EndpointTable } from '../parts/endpoint-table.tsx';
import { EventList } from '../parts/event-list.tsx';
import { Processes } from '../parts/processes.tsx';
import { Badge, Empty, Failure, Figure, Issues, type Tone } from '../parts/state.tsx';
import { TrafficCharts } from '../parts/traffic-charts.tsx';

type Status = Body<'/v1/status'>;

/** The state of the gateway, its traffic, processes and last events. */
export function Overview({ events }: { readonly events: readonly GatewayEvent[] }) {
  const [interval, setInterval] = useState<'1s' | '10s'>('10s');
  const status = useRead('/v1/status', {}, 5000);
  const lastEvent = events[0]?.id;
  useEffect(() => {
    if (lastEvent !== undefined) status.again();
  }, [lastEvent, status.again]);
  const { samples, statusClasses } = useTraffic(interval);
  return (
    <>
      <h1>Overview</h1>
      <Failure error={status.error} />
      {status.body && <StatusLine status={status.body} />}
      <fieldset class="toolbar">
        <legend class="visually-hidden">Time range</legend>
        <button type="button" aria-pressed={interval === '10s'} onClick={() => setInterval('10s')}>
          Last hour
        </button>
        <button type="button" aria-pressed={interval === '1s'} onClick={() => setInterval('1s')}>
          Live
        </button>
      </fieldset>
      <Figures samples={samples} interval={interval} />
      <TrafficCharts samples={samples} statusClasses={statusClasses} />
      <Busiest samples={samples} />
      <Processes />
      <section>
        <h2>Events</h2>
        <EventList events={events.slice(0, 20)} />
      </section>
    </>
  );
}

function StatusLine({ status }: { readonly status: Status }) {
  const { state, revision, hash, startedAt, lastReload, guard, drift, secrets } = status;
  const failed = lastReload?.result === 'failed' ? lastReload : null;
  return (
    <>
      <p class="status">
        <Badge tone={toneOf(state)}>{state}</Badge> revision{' '}
        <a href="#/history">
          {revision} ({hash.slice(0, 8)})
        </a>
        , {count(status.endpoints, 'endpoint')}, up for {duration(Date.now() - Date.parse(startedAt))}
      </p>
      {status.internalErrors > 0 && (
        <p class="notice bad">{count(status.internalErrors, 'internal error')}: see the log for their stacks.</p>
      )}
      {failed && (
        <div class="notice bad">
          The change of {time(failed.at)} was refused; revision {revision} still serves. {failed.problem?.detail}
          <Issues issues={failed.problem?.errors ?? []} />
        </div>
      )}
      {guard?.state === 'watching' && (
        <p class="notice warning">
          A guard watches revision {guard.revision} until {time(guard.endsAt)}.{' '}
          <a href="#/configuration">Show its figures</a>.
        </p>
      )}
      {guard && guard.state !== 'watching' && (
        <p class={guard.state === 'rolled-back' || guard.state === 'failed' ? 'notice bad' : 'muted'}>
          Guard of revision {guard.revision}: {guard.state}
          {guard.reason !== null && ` (${guard.reason})`}, ended {time(guard.endsAt)}.
        </p>
      )}
      {drift && !failed && (
        <p class="notice warning">
          The configuration file differs from the configuration that serves. <a href="#/configuration">Compare them</a>.
        </p>
      )}
      {status.warningsTotal > 0 && (
        <details class="notice warning">
          <summary>{count(status.warningsTotal, 'warning')} about the configuration</summary>
          <Issues issues={status.warnings} />
          {status.warningsTotal > status.warnings.length && (
            <p>
              The first {status.warnings.length} are shown; <code>sluice check</code> lists all of them.
            </p>
          )}
        </details>
      )}
      {secrets.failing.map(({ secret, reason }) => (
        <p class="notice warning" key={secret}>
          The secret {secret} is not available: {reason}
        </p>
      ))}
    </>
  );
}

function toneOf(state: Status['state']): Tone {
  return state === 'serving' ? 'good' : state === 'draining' ? 'warning' : 'bad';
}

function Figures({ samples, interval }: { readonly samples: readonly TrafficSample[]; readonly interval: string }) {
  const last = samples.at(-1);
  if (!last) {
    const wait = interval === '1s' ? 'one second' : 'ten seconds';
    return <Empty>The first figures appear after {wait}.</Empty>;
  }
  const { calls, errors, durationMs, p50Ms, p95Ms, p99Ms, connections, inProgress, cpu, rssBytes, loopLagMs } = last;
  const errorShare = calls === 0 ? 0 : errors / calls;
  return (
    <dl class="figures">
      <Figure label="Requests" value={`${compact((calls * 1000) / durationMs)} /s`} />
      <Figure label="Errors" value={percent(errorShare)} tone={errorShare > 0.01 ? 'bad' : 'plain'} />
      <Figure label="p50" value={milliseconds(p50Ms)} />
      <Figure label="p95" value={milliseconds(p95Ms)} />
      <Figure label="p99" value={milliseconds(p99Ms)} />
      <Figure label="In progress" value={compact(inProgress)} />
      <Figure label="Connections" value={compact(connections)} />
      <Figure label="CPU" value={percent(cpu)} />
      <Figure label="Memory" value={bytes(rssBytes)} />
      <Figure label="Event loop delay" value={milliseconds(loopLagMs)} tone={loopLagMs > 100 ? 'warning' : 'plain'} />
    </dl>
  );
}

/** Number of endpoints in the table. */
const SHOWN = 10;

function Busiest({ samples }: { readonly samples: readonly TrafficSample[] }) {
  const rates = [...ratesOf(samples.slice(-30)).values()];
  const shown = rates.sort((a, b) => b.errorShare - a.errorShare || b.rate - a.rate).slice(0, SHOWN);
  return (
    <section>
      <h2>Endpoints with traffic</h2>
      {shown.length === 0 ? (
        <Empty>
          No traffic yet. Send a request to an endpoint, for example from <a href="#/try">Try</a>.
        </Empty>
      ) : (
        <EndpointTable rows={shown} />
      )}
    </section>
  );
}
