import type { Log } from '#contract';
import { issueLine } from '../config/index.ts';
import type { Attempt } from './attempts.ts';
import type { Applied } from './change.ts';
import type { Control } from './control.ts';

/** Logs every rejected change, and the warnings of every applied one. */
export function logOutcome(control: Control, log: Log): void {
  let refused = false;
  control.onSettled.push((attempt, applied, { saved = [] }) => {
    if (applied) logSuccess(applied, saved, refused, log);
    else logFailure(attempt, log);
    refused = !applied;
  });
}

/** @param saved files that triggered the change. @param refused the previous change was rejected; the log then reports that the error is resolved. */
function logSuccess(applied: Applied, saved: readonly string[], refused: boolean, log: Log): void {
  const { result, revision, previous, issues, changes, phases, hash, rebound } = applied;
  if (result === 'applied') {
    for (const issue of issues) log.warning(issueLine(issue));
  }
  if (previous === 0) return;
  if (result !== 'applied') {
    const line = `revision ${revision} stays active: ${result}`;
    if (refused) log.info(line);
    else log.debug(line);
    return;
  }
  const { added, changed, removed } = changes;
  const addresses = rebound.map((address) => `; now listening on ${address}`).join('');
  const spent = Object.entries(phases).map(([phase, ms]) => `${phase} ${ms} ms`);
  log.info(
    `now serving revision ${revision} (${hash.slice(0, 12)}), replacing ${previous}${savedIn(saved)}: endpoints ${added.length} added, ${changed.length} changed, ` +
      `${removed.length} removed${addresses}; ${spent.join(', ')}`,
  );
}

/** Maximum number of saved files named in the log; the others are counted. */
const MAX_NAMED = 5;

function savedIn(saved: readonly string[]): string {
  if (saved.length === 0) return '';
  const more = saved.length > MAX_NAMED ? ` and ${saved.length - MAX_NAMED} more` : '';
  return ` after a change of ${saved.slice(0, MAX_NAMED).join(', ')}${more}`;
}

/** Maximum number of errors logged per rejection; the others are counted. */
const MAX_TOLD = 20;

/** Logs a self-contained line for each error. */
function logFailure({ problem, revision }: Attempt, log: Log): void {
  if (revision === 0 || !problem) return;
  const { issues, message, hidden } = problem;
  const lines = issues.length === 0 ? [message] : issues.slice(0, MAX_TOLD).map(issueLine);
  const unreported = issues.length + hidden - lines.length;
  if (unreported > 0) lines.push(`and ${unreported} more`);
  for (const line of lines) log.error(`configuration refused; revision ${revision} stays active: ${line}`);
}
