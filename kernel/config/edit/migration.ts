import type { ConfigError, DataObject } from '#contract';
import { cloneData } from '../clone.ts';
import { modernize } from '../compatibility.ts';
import { createReport } from '../report.ts';
import { settleTransport } from '../transport.ts';
import type { Change } from './edit-document.ts';

/** What has to change in a document for it to be of version 3 and use present names only. */
export interface Migration {
  readonly changes: readonly Change[];
  /** Old names that cannot be replaced, because the present one stands beside them; or a version that is none. */
  readonly problems: readonly ConfigError[];
  /** Old forms that are understood all the same and stay as they are. */
  readonly notes: readonly ConfigError[];
}

/** Plans the migration of a document, which may be of version 2, or of version 3 with old names. */
export function planMigration(data: DataObject): Migration {
  const document = cloneData(data);
  const isOld = document['version'] === 2;
  // Old fields are renamed in version 2 only; in version 3 they would be refused.
  if (document['version'] === 3) document['version'] = 2;
  const report = createReport();
  const origin = modernize(document, report);
  const old = createReport();
  settleTransport(document, origin, old);
  return {
    changes: [...(isOld ? [{ pointer: '/version', value: 3 }] : []), ...origin.renames()],
    problems: [...report.errors, ...report.warnings],
    notes: old.warnings,
  };
}
