import type { Operation } from '../operation.ts';
import { listAttempts, readAttempt } from './attempts.ts';
import { check } from './check.ts';
import { getConfig, patchConfig, putConfig } from './config.ts';
import { diffConfig } from './diff-config.ts';
import { fix } from './fix.ts';
import { reload, rollback } from './reload.ts';
import { diffRevisions, listRevisions, pinRevision, readRevision, unpinRevision } from './revisions.ts';
import { readShadow, stopShadow } from './shadow.ts';

/** Operations that change configurations and their history. */
export const changing: readonly Operation[] = [
  check,
  fix,
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
  readShadow,
  stopShadow,
];
