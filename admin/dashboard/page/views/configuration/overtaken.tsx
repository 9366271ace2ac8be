import { useState } from 'preact/hooks';
import type { ApiError } from '../../api/client.ts';
import { count } from '../../format.ts';
import { Failure } from '../../parts/state.tsx';
import type { Base } from './base.ts';
import { type Merged, merge, type Side } from './merge.ts';

export interface OvertakenProps {
  readonly base: Base;
  readonly text: string;
  /** The revision that serves now. */
  readonly revision: number;
  /** Reads the serving configuration. @throws ApiError. */
  readonly read: () => Promise<Base>;
  /** Continues with a text that is based on the serving configuration. */
  onContinue(base: Base, text: string): void;
}

/** Tells that another change came first, and merges it with the text. */
export function Overtaken({ base, text, revision, read, onContinue }: OvertakenProps) {
  const [error, setError] = useState<ApiError | null>(null);
  const [pending, setPending] = useState<{ readonly next: Base; readonly merged: Merged } | null>(null);
  const hasChanged = text !== base.text;
  const withNext = async (use: (next: Base) => void): Promise<void> => {
    setError(null);
    try {
      use(await read());
    } catch (failure) {
      setError(failure as ApiError);
    }
  };
  const discard = () => withNext((next) => onContinue(next, next.text));
  const mergeBoth = () =>
    withNext((next) => {
      const merged = merge(base.text, text, next.text, 'mine');
      if (merged.conflicts.length === 0) onContinue(next, merged.text);
      else setPending({ next, merged });
    });
  const resolve = (side: Side): void => {
    if (pending) onContinue(pending.next, merge(base.text, text, pending.next.text, side).text);
  };
  return (
    <div class="notice warning" role="alert">
      Revision {revision} was applied meanwhile; this text is based on revision {base.revision}.{' '}
      {hasChanged && (
        <button type="button" onClick={mergeBoth}>
          Merge both changes
        </button>
      )}{' '}
      <button type="button" onClick={discard}>
        {hasChanged ? 'Discard this text and read the new one' : 'Read the new one'}
      </button>
      <Failure error={error} />
      {pending && (
        <>
          <p>
            Both changed the same lines in {count(pending.merged.conflicts.length, 'place')}. Choose whose lines to use
            there; everything else is merged.
          </p>
          {pending.merged.conflicts.slice(0, SHOWN).map(({ line, mine, theirs }) => (
            <div class="conflict" key={line}>
              <p>
                Line {line} of revision {base.revision}
              </p>
              <figure>
                <figcaption>Your lines</figcaption>
                <pre>{mine.join('\n')}</pre>
              </figure>
              <figure>
                <figcaption>Revision {revision}</figcaption>
                <pre>{theirs.join('\n')}</pre>
              </figure>
            </div>
          ))}
          <button type="button" onClick={() => resolve('mine')}>
            Use your lines
          </button>{' '}
          <button type="button" onClick={() => resolve('theirs')}>
            Use the lines of revision {pending.next.revision}
          </button>
        </>
      )}
    </div>
  );
}

/** Maximum number of conflicts that are shown. */
const SHOWN = 20;
