import type { Log } from '#contract';
import type { Attempt } from './attempts.ts';
import type { Applied } from './change.ts';
import type { EventLog } from './event-log.ts';

/** One line in the log for every change that was applied or refused, but for the first (hot-reload rule 29). */
export function tellOutcome(events: EventLog, log: Log): void {
  events.subscribe({ types: ['reload.succeeded', 'reload.failed'] }, ({ type, data }) => {
    if (type === 'reload.failed') tellFailure(data, log);
    else if (type === 'reload.succeeded') tellSuccess(data, log);
  });
}

function tellSuccess(applied: Applied, log: Log): void {
  const { result, revision, previous, warnings, changes, phases, hash } = applied;
  if (result === 'applied') {
    for (const { pointer, code, message } of warnings) log.warning(`${pointer || '/'} ${code} ${message}`);
  }
  if (previous === 0) return;
  if (result !== 'applied') {
    log.debug(`configuration ${revision} serves on: ${result}`);
    return;
  }
  const { added, changed, removed } = changes;
  const spent = Object.entries(phases).map(([phase, ms]) => `${phase} ${ms} ms`);
  log.info(
    `configuration ${revision} serves (${hash.slice(0, 12)}): endpoints ${added.length} added, ${changed.length} changed, ` +
      `${removed.length} removed; ${spent.join(', ')}`,
  );
}

function tellFailure({ problem, revision }: Attempt, log: Log): void {
  if (revision === 0 || !problem) return;
  const { errors, message } = problem;
  const mistakes = errors.map(({ pointer, message: text }) => (pointer ? `${pointer} ${text}` : text)).join('; ');
  log.error(`configuration refused, ${revision} serves on: ${mistakes || message}`);
}
