import type { ReplayChange } from '../../control/replay-report.ts';
import type { GroupedChange } from '../replay/replay.ts';

/** Maximum length of the name of a field in a report, in characters. */
export const MAX_NAME = 200;

/** A difference as it is reported: values may be data of clients. */
export function withoutValues({ endpoint, cause, at, requests, settings }: GroupedChange): ReplayChange {
  const changed = settings.map(({ op, pointer }) => ({ op, pointer }));
  return { endpoint, cause, at: at.slice(0, MAX_NAME), requests, settings: changed };
}
