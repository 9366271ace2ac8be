import type { ComponentChildren } from 'preact';
import type { ApiError, Issue } from '../api/client.ts';

export type Tone = 'good' | 'warning' | 'bad' | 'plain';

/** A short state, as in `serving`. */
export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** A figure with its unit. */
export function Figure({ label, value, tone = 'plain' }: { label: string; value: string; tone?: Tone }) {
  return (
    <div class={`figure ${tone}`}>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** Shown while a view has no data, with what to do next. */
export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

/** The error of a request, with the errors of the configuration that it lists. */
export function Failure({ error }: { readonly error: ApiError | null }) {
  if (error === null) return null;
  return (
    <div class="notice bad" role="alert">
      <strong>{error.problem?.title ?? 'Request failed'}</strong> {error.message}
      <Issues issues={error.problem?.errors ?? []} />
    </div>
  );
}

interface IssuesProps {
  readonly issues: readonly Issue[];
  /** Called with a chosen issue. */
  readonly onSelect?: (issue: Issue) => void;
  /** Called with an issue to correct. */
  readonly onFix?: ((issue: Issue) => void) | undefined;
}

/** Errors or warnings of a configuration, with their place and hint. */
export function Issues({ issues, onSelect, onFix }: IssuesProps) {
  if (issues.length === 0) return null;
  return (
    <ul class="issues">
      {issues.map((issue) => (
        <li key={`${issue.code}${issue.pointer}${issue.message}`} class={issue.severity}>
          {onSelect && issue.line !== undefined ? (
            <button type="button" class="link" onClick={() => onSelect(issue)}>
              {placeOf(issue)}
            </button>
          ) : (
            <span class="place">{placeOf(issue)}</span>
          )}{' '}
          <code>{issue.code}</code> {issue.message}
          {issue.hint && <span class="hint"> Hint: {issue.hint}</span>}
          {onFix && issue.fixable && ' '}
          {onFix && issue.fixable && (
            <button type="button" onClick={() => onFix(issue)}>
              Fix
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

function placeOf({ file, line, column, pointer }: Issue): string {
  if (line === undefined) return pointer || 'configuration';
  const position = `${line}:${column ?? 1}`;
  return file === undefined ? `line ${position}` : `${file.split('/').at(-1)}:${position}`;
}
