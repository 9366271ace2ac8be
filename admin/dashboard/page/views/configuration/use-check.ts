import { useEffect, useState } from 'preact/hooks';
import { type ApiError, type Issue, type Schemas, send } from '../../api/client.ts';
import type { Base } from './base.ts';

type Difference = Schemas['Difference'];

/** Time without typing after which the text is checked, in milliseconds. */
const CHECK_MS = 400;

/** Result of checking a text. */
export interface Checked {
  readonly issues: readonly Issue[];
  readonly valid: boolean;
  readonly done: boolean;
  readonly busy: boolean;
  readonly difference: Difference | null;
  readonly error: ApiError | null;
}

const unchecked: Checked = { issues: [], valid: false, done: false, busy: false, difference: null, error: null };

/** Checks a text with the checker of the gateway, a moment after the last change. */
export function useCheck(base: Base | null, text: string, canCheck: boolean): Checked {
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
