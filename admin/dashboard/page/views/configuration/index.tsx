import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type ApiError, send } from '../../api/client.ts';
import { useRead } from '../../api/use-read.ts';
import { count } from '../../format.ts';
import { Differences } from '../../parts/differences.tsx';
import { Editor, type Target } from '../../parts/editor.tsx';
import { Badge, Empty, Failure, Issues } from '../../parts/state.tsx';
import { Apply } from './apply.tsx';
import { type Base, formatOf, lineOf, readBase } from './base.ts';
import { requestFix } from './fix.ts';
import { Guard } from './guard.tsx';
import { Overtaken } from './overtaken.tsx';
import { useCheck } from './use-check.ts';

export interface ConfigurationProps {
  /** JSON pointer to scroll to; null for none. */
  readonly pointer: string | null;
  /** Line of that value in the file; null if it is not known. */
  readonly writtenLine: number | null;
  readonly canWrite: boolean;
  readonly canCheck: boolean;
  /** Whether the token may see secrets, and so the text as it was written. */
  readonly canReveal: boolean;
}

/** The configuration as text, with the errors of the checker, the difference, and what applying it needs. */
export function Configuration({ pointer, writtenLine, canWrite, canCheck, canReveal }: ConfigurationProps) {
  const status = useRead('/v1/status', {}, 2000);
  const [base, setBase] = useState<Base | null>(null);
  const [text, setText] = useState('');
  const [reading, setReading] = useState<ApiError | null>(null);
  const [target, setTarget] = useState<Target | null>(null);
  const [showsDifference, setShowsDifference] = useState(false);
  const [schema, setSchema] = useState<object | null>(null);
  const sourceFile = status.body?.sourceFile;
  const checked = useCheck(base, text, canCheck);

  const readNow = useCallback(() => readBase(formatOf(sourceFile ?? null), canReveal), [sourceFile, canReveal]);
  const load = useCallback(async () => {
    setReading(null);
    try {
      const next = await readNow();
      setBase(next);
      setText(next.text);
    } catch (error) {
      setReading(error as ApiError);
    }
  }, [readNow]);
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
    if (!base || !pointer) return;
    const line = base.format === 'json' ? lineOf(base.text, pointer) : canReveal ? writtenLine : null;
    if (line !== null) setTarget({ line });
  }, [base, pointer, writtenLine, canReveal]);

  const canEdit = canWrite || canCheck;
  const latest = useRef(text);
  latest.current = text;
  const fix = async (pointer: string | null): Promise<void> => {
    if (!base) return;
    setReading(null);
    try {
      const fixed = await requestFix(base, text, pointer);
      // Typing continues while the gateway responds; the newer text wins.
      if (latest.current !== text) return;
      setText(fixed);
      // The pressed button disappears with the error, and the focus with it.
      const line = checked.issues.find((issue) => issue.fixable && (pointer ?? issue.pointer) === issue.pointer)?.line;
      if (line !== undefined) setTarget({ line });
    } catch (error) {
      setReading(error as ApiError);
    }
  };

  const changed = base !== null && text !== base.text;
  const overtaken = base !== null && status.body !== null && status.body.revision !== base.revision;
  return (
    <>
      <h1>Configuration</h1>
      <Failure error={reading ?? status.error} />
      {!canReveal && base && (
        <p class="muted">
          The token lacks the scope “secrets”: secrets are shown as <code>***</code>, which keeps their values, and
          comments are omitted because they may contain secrets.
        </p>
      )}
      {overtaken && (
        <Overtaken
          base={base}
          text={text}
          revision={status.body!.revision}
          read={readNow}
          onContinue={(next, merged) => {
            setBase(next);
            setText(merged);
          }}
        />
      )}
      {base && (
        <Editor
          text={text}
          format={base.format}
          readOnly={!canEdit}
          issues={checked.issues}
          original={showsDifference ? base.text : null}
          schema={schema}
          target={target}
          onChange={setText}
          onFix={canCheck && canEdit ? fix : null}
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
        {canCheck && checked.issues.some(({ fixable }) => fixable) && (
          <button type="button" onClick={() => fix(null)}>
            Fix all errors with a single correction
          </button>
        )}
        <Issues
          issues={checked.issues}
          onSelect={({ line }) => line !== undefined && setTarget({ line })}
          onFix={canCheck ? ({ pointer }) => fix(pointer) : undefined}
        />
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
