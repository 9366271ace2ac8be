import { useMemo, useState } from 'preact/hooks';
import { type ApiError, type Schemas, send } from '../../api/client.ts';
import { useRead } from '../../api/use-read.ts';
import { duration } from '../../format.ts';
import { Failure } from '../../parts/state.tsx';

/** The guard of the last change, with the time that is left, and the way back. */
export function Guard({ status: { guard, revision } }: { readonly status: Schemas['Status'] }) {
  const revisions = useRead('/v1/revisions', { limit: 2 }, 5000);
  const [error, setError] = useState<ApiError | null>(null);
  const previous = useMemo(
    () => revisions.body?.revisions.find(({ number }) => number < revision)?.number,
    [revisions.body, revision],
  );
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
      {previous !== undefined && (
        <button type="button" onClick={undo}>
          Undo: return to revision {previous}
        </button>
      )}
    </section>
  );
}
