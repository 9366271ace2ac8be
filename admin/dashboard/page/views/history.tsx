import { useState } from 'preact/hooks';
import { type ApiError, type Schemas, send } from '../api/client.ts';
import { useRead } from '../api/use-read.ts';
import { time } from '../format.ts';
import { Differences } from '../parts/differences.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { ShadowRuns } from '../parts/shadow-runs.tsx';
import { Badge, Empty, Failure } from '../parts/state.tsx';

type Revision = Schemas['Revision'];
type Difference = Schemas['Difference'];

/** The revisions of the configuration: who changed what, differences, and rollback. */
export function History({ canWrite }: { readonly canWrite: boolean }) {
  const { body, error, again } = useRead('/v1/revisions', { limit: 100 }, 5000);
  const attempts = useRead('/v1/attempts', { limit: 100 }, 5000);
  const guards = new Map(attempts.body?.attempts.flatMap(({ guard }) => (guard ? [[guard.revision, guard]] : [])));
  const [chosen, setChosen] = useState<readonly number[]>([]);
  const [difference, setDifference] = useState<{ from: number; to: number; content: Difference } | null>(null);
  const [failure, setFailure] = useState<ApiError | null>(null);
  const revisions = body?.revisions ?? [];

  const compare = async (from: number, to: number): Promise<void> => {
    setFailure(null);
    try {
      const response = await send(`/v1/revisions/${from}/diff/${to}`);
      setDifference({ from, to, content: (await response.json()) as Difference });
    } catch (problem) {
      setFailure(problem as ApiError);
    }
  };
  const rollBack = async ({ number }: Revision): Promise<void> => {
    if (!confirm(`Apply the configuration of revision ${number} as a new revision?`)) return;
    setFailure(null);
    try {
      await send(`/v1/revisions/${number}/rollback`, { method: 'POST' });
      again();
    } catch (problem) {
      setFailure(problem as ApiError);
    }
  };
  const choose = (number: number): void =>
    setChosen((last) => (last.includes(number) ? last.filter((one) => one !== number) : [...last, number].slice(-2)));
  const [older, newer] = chosen.toSorted((a, b) => a - b);
  return (
    <>
      <h1>History</h1>
      <Failure error={error ?? failure} />
      <div class="toolbar">
        <button
          type="button"
          disabled={newer === undefined}
          onClick={() => older !== undefined && newer !== undefined && compare(older, newer)}
        >
          Compare the two selected revisions
        </button>
      </div>
      {body && revisions.length === 0 && <Empty>No revision is stored.</Empty>}
      <Scroll label="Revisions">
        <table>
          <thead>
            <tr>
              <th scope="col">Select</th>
              <th scope="col">Revision</th>
              <th scope="col">Time</th>
              <th scope="col">Source</th>
              <th scope="col">By</th>
              <th scope="col">Message</th>
              <th scope="col">Result</th>
              <th scope="col">Guard</th>
              <th scope="col">Actions</th>
            </tr>
          </thead>
          <tbody>
            {revisions.map((revision, index) => {
              const { number, at, source, actor, message, result, reason, active, hash } = revision;
              const previous = revisions[index + 1];
              return (
                <tr key={number} class={active ? 'active' : ''}>
                  <td>
                    <input
                      type="checkbox"
                      aria-label={`Select revision ${number}`}
                      checked={chosen.includes(number)}
                      onChange={() => choose(number)}
                    />
                  </td>
                  <td>
                    {number} <code>{hash.slice(0, 8)}</code> {active && <Badge tone="good">active</Badge>}
                  </td>
                  <td>
                    <time dateTime={at}>{time(at)}</time>
                  </td>
                  <td>{source}</td>
                  <td>{actor ?? '–'}</td>
                  <td>{message ?? '–'}</td>
                  <td>
                    <Badge tone={result === 'applied' ? 'plain' : 'bad'}>{result}</Badge> {reason}
                  </td>
                  <td>{guards.has(number) ? <GuardReport guard={guards.get(number)!} /> : '–'}</td>
                  <td>
                    {previous && (
                      <button type="button" onClick={() => compare(previous.number, number)}>
                        Show change
                      </button>
                    )}{' '}
                    {canWrite && !active && (
                      <button type="button" onClick={() => rollBack(revision)}>
                        Roll back
                      </button>
                    )}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </Scroll>
      {difference && (
        <section aria-live="polite">
          <h2>
            Revision {difference.from} to {difference.to}
          </h2>
          <Differences difference={difference.content} />
        </section>
      )}
      <ShadowRuns canWrite={canWrite} />
    </>
  );
}

/** Outcome of the guard of a revision. */
function GuardReport({ guard: { state, endsAt, reason, rolledBackTo } }: { readonly guard: Schemas['Guard'] }) {
  const tone = state === 'passed' ? 'good' : state === 'rolled-back' || state === 'failed' ? 'bad' : 'warning';
  return (
    <>
      <Badge tone={tone}>{state}</Badge> {state === 'watching' ? 'until' : 'ended'} {time(endsAt)}
      {reason !== null && `: ${reason}`}
      {rolledBackTo !== null && `; rolled back to revision ${rolledBackTo}`}
    </>
  );
}
