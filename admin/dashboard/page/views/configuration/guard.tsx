import { useMemo, useState } from 'preact/hooks';
import { type ApiError, type Schemas, send } from '../../api/client.ts';
import { useRead } from '../../api/use-read.ts';
import { type TrafficSample, useTraffic } from '../../api/use-traffic.ts';
import { count, duration, milliseconds, percent } from '../../format.ts';
import { Failure } from '../../parts/state.tsx';

/** The guard of the last change, with the time that is left, and the way back. */
export function Guard({ status: { guard, revision } }: { readonly status: Schemas['Status'] }) {
  const revisions = useRead('/v1/revisions', { limit: 2 }, 5000);
  const [error, setError] = useState<ApiError | null>(null);
  const previous = useMemo(
    () => revisions.body?.revisions.find(({ number }) => number < revision)?.number,
    [revisions.body, revision],
  );
  const change = revisions.body?.revisions.find(({ number }) => number === revision);
  const changedAt = change ? Date.parse(change.at) : Number.POSITIVE_INFINITY;
  const undo = async (): Promise<void> => {
    try {
      await send(`/v1/revisions/${previous}/rollback`, { method: 'POST' });
      revisions.again();
    } catch (failure) {
      setError(failure as ApiError);
    }
  };
  return (
    <section>
      <Failure error={error} />
      {guard && guard.revision === revision && (
        <p class="notice warning" role="status">
          Guard of revision {guard.revision}: {guard.state}
          {guard.state === 'watching' && `, ${duration(Math.max(0, Date.parse(guard.endsAt) - Date.now()))} left`}
          {guard.reason !== null && `: ${guard.reason}`}
        </p>
      )}
      {guard?.state === 'watching' && guard.revision === revision && <GuardFigures changedAt={changedAt} />}
      {previous !== undefined && (
        <button type="button" onClick={undo}>
          Undo: return to revision {previous}
        </button>
      )}
    </section>
  );
}

/** The figures that the guard compares, for all endpoints together. @param changedAt milliseconds since 1970. */
function GuardFigures({ changedAt }: { readonly changedAt: number }) {
  const { samples } = useTraffic('1s');
  const after = sumOf(samples.filter(({ endedAt }) => endedAt > changedAt));
  const before = sumOf(samples.filter(({ endedAt }) => endedAt <= changedAt));
  return (
    <table>
      <caption>All endpoints, by the second</caption>
      <thead>
        <tr>
          <th scope="col">Period</th>
          <th scope="col">Requests</th>
          <th scope="col">Errors</th>
          <th scope="col">Highest p99</th>
        </tr>
      </thead>
      <tbody>
        {[
          { period: 'Before the change', figures: before },
          { period: 'Since the change', figures: after },
        ].map(({ period, figures: { calls, errors, p99Ms } }) => (
          <tr key={period}>
            <th scope="row">{period}</th>
            <td>{count(calls, 'request')}</td>
            <td>{calls === 0 ? '–' : percent(errors / calls)}</td>
            <td>{milliseconds(p99Ms)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function sumOf(samples: readonly TrafficSample[]) {
  const p99s = samples.flatMap(({ p99Ms }) => p99Ms ?? []);
  return {
    calls: samples.reduce((sum, { calls }) => sum + calls, 0),
    errors: samples.reduce((sum, { errors }) => sum + errors, 0),
    p99Ms: p99s.length === 0 ? null : Math.max(...p99s),
  };
}
