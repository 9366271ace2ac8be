import { useState } from 'preact/hooks';
import { type ApiError, send } from '../../api/client.ts';
import { Failure } from '../../parts/state.tsx';
import type { Base } from './base.ts';

export interface ApplyProps {
  readonly base: Base;
  readonly text: string;
  readonly disabled: boolean;
  onApplied(): void;
}

const guards = ['off', '30s', '60s', '5m', '15m'];

/** Applies the text, with a guard that rolls it back when endpoints get worse. */
export function Apply({ base, text, disabled, onApplied }: ApplyProps) {
  const [guard, setGuard] = useState('60s');
  const [message, setMessage] = useState('');
  const [persist, setPersist] = useState('revision');
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const apply = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      await send('/v1/config', {
        method: 'PUT',
        query: {
          persist,
          ...(guard !== 'off' && { guard }),
          ...(message !== '' && { message }),
        },
        headers: { 'Content-Type': `application/${base.format}`, 'If-Match': base.etag },
        body: text,
      });
      setMessage('');
      onApplied();
    } catch (failure) {
      setError(failure as ApiError);
    } finally {
      setBusy(false);
    }
  };
  return (
    <section>
      <h2>Apply</h2>
      <form
        class="toolbar"
        onSubmit={(event) => {
          event.preventDefault();
          apply();
        }}
      >
        <label>
          Guard{' '}
          <select value={guard} onChange={(event) => setGuard(event.currentTarget.value)}>
            {guards.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          Store{' '}
          <select value={persist} onChange={(event) => setPersist(event.currentTarget.value)}>
            <option value="revision">in the history</option>
            <option value="file">in the history and the file</option>
          </select>
        </label>
        <label>
          Message <input value={message} maxLength={200} onInput={(event) => setMessage(event.currentTarget.value)} />
        </label>
        <button type="submit" class="primary" disabled={disabled || busy}>
          Apply
        </button>
      </form>
      <Failure error={error} />
    </section>
  );
}
