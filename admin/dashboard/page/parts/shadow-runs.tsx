import { useState } from 'preact/hooks';
import { type ApiError, type Schemas, send } from '../api/client.ts';
import { useRead } from '../api/use-read.ts';
import { count, percent, time } from '../format.ts';
import { Scroll } from './scroll.tsx';
import { Badge, Failure, type Tone } from './state.tsx';

type Run = Schemas['Shadow'];

/** Configurations that received copies of requests and were compared with the active one, latest first. */
export function ShadowRuns({ canWrite }: { readonly canWrite: boolean }) {
  const { body, error, again } = useRead('/v1/attempts', { limit: 100 }, 5000);
  const [failure, setFailure] = useState<ApiError | null>(null);
  const runs = (body?.attempts ?? []).flatMap(({ shadow }) => shadow ?? []);
  const stop = async (): Promise<void> => {
    setFailure(null);
    try {
      await send('/v1/shadow', { method: 'DELETE' });
    } catch (problem) {
      setFailure(problem as ApiError);
    }
    again();
  };
  if (runs.length === 0) return <Failure error={error} />;
  return (
    <section aria-live="polite">
      <h2>Shadow runs</h2>
      <Failure error={failure ?? error} />
      {runs.map((run) => (
        <ShadowRun key={run.attempt} run={run} onStop={canWrite && run.state === 'running' ? stop : null} />
      ))}
    </section>
  );
}

function ShadowRun({ run, onStop }: { readonly run: Run; readonly onStop: (() => void) | null }) {
  const { attempt, state, revision, sample, startedAt, endsAt, compared, different, changes, reason } = run;
  return (
    <article>
      <p>
        <Badge tone={toneOf(run)}>{state}</Badge> attempt {attempt}, compared with revision {revision}, from{' '}
        {time(startedAt)} to {time(endsAt)}. {count(compared, 'response')} compared of a sample of {percent(sample)},{' '}
        {different} with differences. {reason}{' '}
        {onStop && (
          <button type="button" onClick={onStop}>
            End the shadow run
          </button>
        )}
      </p>
      {changes.length > 0 && (
        <Scroll label={`Differences of attempt ${attempt}`}>
          <table>
            <thead>
              <tr>
                <th scope="col">Endpoint</th>
                <th scope="col">Difference</th>
                <th scope="col">Requests</th>
                <th scope="col">Settings</th>
              </tr>
            </thead>
            <tbody>
              {changes.map(({ endpoint, cause, at, requests, settings }) => (
                <tr key={`${endpoint} ${cause} ${at}`}>
                  <td>{endpoint}</td>
                  <td>
                    {cause} <code>{at}</code>
                  </td>
                  <td>{requests}</td>
                  <td>{settings.map(({ op, pointer }) => `${op} ${pointer}`).join(', ')}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </article>
  );
}

function toneOf({ state, different }: Run): Tone {
  if (state === 'failed') return 'bad';
  if (different > 0) return 'warning';
  return state === 'finished' ? 'good' : 'plain';
}
