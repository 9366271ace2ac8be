import { formatNameOf, type Issue } from '../../config/index.ts';
import type { Applied } from '../../control/change.ts';
import type { GuardState } from '../../control/guard.ts';
import type { ReplayReport } from '../../control/replay-report.ts';
import type { ShadowReport } from '../../control/shadow-report.ts';
import type { AdminRequest } from './client.ts';

/** A problem reported by the admin API (RFC 9457). */
export interface Problem {
  readonly title: string;
  readonly detail?: string;
  /** The revision that stays active. */
  readonly revision?: number;
  readonly errors?: readonly Issue[];
  /** Number of errors that are omitted. */
  readonly errorsTruncated?: number;
}

/** Result of checking a valid configuration. */
export interface CheckedBody {
  readonly valid: boolean;
  readonly warnings: readonly Issue[];
}

/** Result of a change. */
export interface AppliedBody
  extends Pick<Applied, 'result' | 'revision' | 'previous' | 'hash' | 'durationMs' | 'rebound'> {
  readonly changes: Readonly<Record<'added' | 'changed' | 'removed', readonly string[]>>;
  readonly requiresRestart?: readonly string[];
  readonly warnings: readonly Issue[];
  readonly guard?: GuardState | null;
  readonly replay?: ReplayReport | null;
  readonly shadow?: ShadowReport | null;
}

export interface StatusBody {
  readonly version: string;
  readonly state: string;
  readonly startedAt: string;
  readonly revision: number;
  readonly hash: string;
  readonly source: string;
  readonly sourceFile: string | null;
  readonly drift: boolean;
  readonly converged: boolean;
  readonly workers: number;
  readonly endpoints: number;
  readonly lastReload: {
    readonly result: string;
    readonly trigger: string;
    readonly at: string;
    readonly durationMs: number;
    readonly problem: Problem | null;
  } | null;
  readonly guard?: GuardState | null;
  readonly watch: { readonly enabled: boolean; readonly files: number; readonly mode: string | null };
  readonly secrets?: { readonly inUse: number; readonly failing: readonly { secret: string; reason: string }[] };
  readonly requiresRestart?: readonly string[];
}

/** A revision in the history. */
export interface RevisionBody {
  readonly number: number;
  readonly hash: string;
  readonly at: string;
  readonly source: string;
  readonly actor: string | null;
  readonly message: string | null;
  readonly result: string;
  /** Reason why the revision was rolled back. */
  readonly reason: string | null;
  readonly pinned: boolean;
  readonly active?: boolean;
  readonly files?: readonly string[];
}

/** Builds the request body and headers that contain a configuration file. */
export function configBody(file: string, text: string): Required<Pick<AdminRequest, 'headers' | 'body'>> {
  return { headers: { 'content-type': `application/${formatNameOf(file) ?? 'json'}` }, body: text };
}
