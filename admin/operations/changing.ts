import type { Operation } from '../operation.ts';
import { listAttempts, readAttempt } from './attempts.ts';
import { check } from './check.ts';
import { diffConfig } from './diff-config.ts';
import { getConfig } from './get-config.ts';
import { patchConfig } from './patch-config.ts';
import { putConfig } from './put-config.ts';
import { reload } from './reload.ts';
import { diffRevisions, listRevisions, pinRevision, readRevision, unpinRevision } from './revisions.ts';
import { rollback } from './rollback.ts';

/** The operations on configurations and their history. */
export const changing: readonly Operation[] = [
  check,
  reload,
  getConfig,
  putConfig,
  patchConfig,
  diffConfig,
  listRevisions,
  readRevision,
  diffRevisions,
  rollback,
  pinRevision,
  unpinRevision,
  listAttempts,
  readAttempt,
];
