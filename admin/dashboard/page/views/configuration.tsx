import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { type ApiError, type Issue, type Schemas, send } from '../api/client.ts';
import { useRead } from '../api/use-read.ts';
import { count, duration } from '../format.ts';
import { Differences } from '../parts/differences.tsx';
import { Editor, type Format } from '../parts/editor.tsx';
import { Badge, Empty, Failure, Issues } from '../parts/state.tsx';

type Difference = Schemas['Difference'];

/** A configuration text as it was read, and what it is based on. */
interface Base {
  readonly text: string;
  readonly format: Format;
  readonly etag: string;
  readonly revision: number;
}

export interface ConfigurationProps {
  /** JSON pointer to scroll to; null for none. */
  readonly pointer: string | null;
  readonly canWrite: boolean;
  readonly canCheck: boolean;
  /** Whether the token may see secrets, and so the text as it was written. */
  readonly canReveal: boolean;
}

/** Time without typing after which the text is checked, in milliseconds. */
const CHECK_MS = 400;

/** The configuration as text, with the errors of the checker, the difference, and what applying it needs. */
export function Configuration({ pointer, canWrite, canCheck, canReveal }: ConfigurationProps) {
  const status = useRead('/v1/status', {}, 2000);
  const [base, setBase] = useState<Base | null>(null);
  const [text, setText] = useState('');
  const [reading, setReading] = useState<ApiError | null>(null);
  const [line, setLine] = useState<number | null>(null);
  const [showsDifference, setShowsDifference] = useState(false);
  const [schema, setSchema] = useState<object | null>(null);
  const sourceFile = status.body?.sourceFile;
  const checked = useCheck(base, text, canCheck);

  const load = useCallback(async () => {
    setReading(null);
    try {
      const next = await readBase(formatOf(sourceFile ?? null), canReveal);
      setBase(next);
      setText(next.text);
    } catch (error) {
      setReading(error as ApiError);
    }
  }, [sourceFile, canReveal]);
  useEffect(() => {
    if (sourceFile !== undefined) load();
  }, [load, sourceFile]);
  useEffect(() => {
    send('/v1/schema')
      .then((response) => response.json())
      .then(setSchema)
      .catch(() => {});
  }, []);
  useEffect(() => {
    if (base && pointer) setLine(lineOf(base.text, pointer));
  }, [base, pointer]);

  const changed = base !== null && text !== base.text;
  const overtaken = base !== null && status.body !== null && status.body.revision !== base.revision;
  return (
    <>
      <h1>Configuration</h1>
      <Failure error={reading ?? status.error} />
      {!canReveal && base && (
        <p class="muted">
          The token lacks the scope “secrets”: secrets are shown as <code>***</code>, which keeps their values, and
          comments are left out because they may contain secrets.
        </p>
      )}
      {overtaken && (
        <p class="notice warning" role="alert">
          Revision {status.body!.revision} was applied meanwhile; this text is based on revision {base.revision}.{' '}
          <button type="button" onClick={load}>
            {changed ? 'Discard this text and read the new one' : 'Read the new one'}
          </button>
        </p>
      )}
      {base && (
        <Editor
          text={text}
          format={base.format}
          readOnly={!canWrite && !canCheck}
          issues={checked.issues}
          original={showsDifference ? base.text : null}
          schema={schema}
          line={line}
          onChange={setText}
        />
      )}
      <section aria-live="polite">
        <p class="toolbar">
          {checked.error ? (
            <Badge tone="bad">{checked.error.message}</Badge>
          ) : checked.busy ? (
            <Badge tone="plain">checking</Badge>
          ) : (
            checked.done && (
              <Badge tone={checked.valid ? 'good' : 'bad'}>
                {checked.valid
                  ? 'valid'
                  : count(checked.issues.filter(({ severity }) => severity === 'error').length, 'error')}
              </Badge>
            )
          )}
          <label>
            <input
              type="checkbox"
              checked={showsDifference}
              onChange={(event) => setShowsDifference(event.currentTarget.checked)}
            />{' '}
            Show the difference in the text
          </label>
        </p>
        <Issues issues={checked.issues} onSelect={({ line }) => setLine(line ?? null)} />
      </section>
      {base && changed && checked.difference && (
        <section>
          <h2>Difference by meaning</h2>
          <Differences difference={checked.difference} />
        </section>
      )}
      {base && !changed && <Empty>Edit the text to see errors, the difference, and who is affected.</Empty>}
      {base && canWrite && (
        <Apply base={base} text={text} disabled={!changed || !checked.valid || overtaken} onApplied={load} />
      )}
      {canWrite && status.body && <Guard status={status.body} />}
    </>
  );
}

function formatOf(file: string | null): Format {
  return file !== null && /\.ya?ml$/.test(file) ? 'yaml' : 'json';
}

async function readBase(format: Format, reveal: boolean): Promise<Base> {
  const response = await send('/v1/config', {
    query: { form: 'source', ...(reveal && { reveal }) },
    headers: { Accept: `application/${format}` },
  });
  const received = await response.text();
  const isCompact = format === 'json' && !received.trimEnd().includes('\n');
  return {
    text: isCompact ? `${JSON.stringify(JSON.parse(received), null, 2)}\n` : received,
    format,
    etag: response.headers.get('ETag') ?? '',
    revision: Number(response.headers.get('Gateway-Revision')),
  };
}

/** Line of the value at a JSON pointer in a JSON text; null if it cannot be found. */
function lineOf(text: string, pointer: string): number | null {
  const name = pointer.split('/').at(-1) ?? '';
  const index = /^\/endpoints\/(\d+)/.exec(pointer)?.[1];
  const wanted = index === undefined ? `"${name}"` : '"endpoint"';
  let from = -1;
  for (let count = 0; count <= Number(index ?? 0); count++) {
    from = text.indexOf(wanted, from + 1);
    if (from < 0) return null;
  }
  return text.slice(0, from).split('\n').length;
}

/** Result of checking a text. */
interface Checked {
  readonly issues: readonly Issue[];
  readonly valid: boolean;
  readonly done: boolean;
  readonly busy: boolean;
  readonly difference: Difference | null;
  readonly error: ApiError | null;
}

const unchecked: Checked = { issues: [], valid: false, done: false, busy: false, difference: null, error: null };

/** Checks a text with the checker of the gateway, a moment after the last change. */
function useCheck(base: Base | null, text: string, canCheck: boolean): Checked {
  const [checked, setChecked] = useState(unchecked);
  useEffect(() => {
    if (!base || !canCheck) return;
    const controller = new AbortController();
    const timer = setTimeout(async () => {
      setChecked((last) => ({ ...last, busy: true }));
      const next = await check(base, text, controller.signal).catch(() => null);
      if (next && !controller.signal.aborted) setChecked(next);
    }, CHECK_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [base, text, canCheck]);
  return checked;
}

async function check({ format }: Base, body: string, signal: AbortSignal): Promise<Checked> {
  const request = { method: 'POST', headers: { 'Content-Type': `application/${format}` }, body, signal };
  try {
    const response = await send('/v1/check', { ...request, query: { level: 'schema' } });
    const { warnings } = (await response.json()) as Schemas['Checked'];
    const difference = (await (await send('/v1/config/diff', request)).json()) as Difference;
    return { ...unchecked, done: true, valid: true, issues: warnings, difference };
  } catch (error) {
    if (signal.aborted) throw error;
    const { problem } = error as ApiError;
    const issues = problem?.errors ?? [];
    return { ...unchecked, done: true, issues, error: issues.length === 0 ? (error as ApiError) : null };
  }
}

interface ApplyProps {
  readonly base: Base;
  readonly text: string;
  readonly disabled: boolean;
  onApplied(): void;
}

const guards = ['off', '30s', '60s', '5m', '15m'];

/** Applies the text, with a guard that rolls it back when endpoints get worse. */
function Apply({ base, text, disabled, onApplied }: ApplyProps) {
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

/** The guard of the last change, with the time that is left, and the way back. */
function Guard({ status: { guard, revision } }: { readonly status: Schemas['Status'] }) {
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
