export { findNear, type Near, nearest } from '#contract';
export { canonicalJson } from './canonical.ts';
export { cloneData, deepFreeze } from './clone.ts';
export type {
  ConfigChange,
  ConfigDiff,
  DiffOptions,
  PatchOperation,
  RouteName,
} from './diff/config-diff.ts';
export { canonicalData, diffConfigs } from './diff/diff-configs.ts';
export type { Effect } from './diff/effect.ts';
export { maskSecrets } from './diff/mask-secrets.ts';
export { parseDuration, readDuration } from './duration.ts';
export { type Change, editDocument } from './edit/edit-document.ts';
export { mendText } from './edit/mend-text.ts';
export { type Migration, planMigration } from './edit/migration.ts';
export { type Draft, draftFile, replaceFile } from './edit/replace-file.ts';
export { withoutEffect } from './edit/without-effect.ts';
export { underEnvironment } from './environment.ts';
export { shownHost } from './hosts.ts';
export { type Issue, type RelatedIssue, toIssues } from './issue.ts';
export { issueLine } from './issue-line.ts';
export { isRaw, isUnread, type KnownPlugins, meaningsOf, nothingKnown } from './known-plugins.ts';
export {
  type Document,
  decodeText,
  type FormatName,
  formatNameOf,
  formatOf,
  parseDocument,
  parseJson,
  readDocument,
} from './load.ts';
export { type Normalized, type NormalizeOptions, normalize, normalizeInSlices, untold } from './normalize.ts';
export { notSupportedYet, supportedBeside } from './not-supported.ts';
export { oldNamesOf, presentName } from './old-names.ts';
export { oldNamespaceSchemas, withOldFields, withOldNames, withVersionTwo } from './old-schema.ts';
export { type PathSegment, parseSegment, readSegment } from './path-segment.ts';
export { completePipe, type FoundPipe, mayHoldPipes, pipesIn } from './pipes.ts';
export { escapePointer, fieldName, joinPointer, parentPointer, parsePointer, valueAt } from './pointer.ts';
export { type Part, PlacedError, type Position } from './position.ts';
export { secretWarning } from './rules/secrets.ts';
export {
  closedObject,
  DEFINITIONS,
  innerSchemas,
  type JsonSchema,
  recursiveSchemas,
  toJsonSchema,
  toPublicSchema,
} from './schema.ts';
export { type IsSecret, isSecret, isTelling, secretPointers } from './secret.ts';
export { isMarked, markedLiterals, secretLiterals } from './secret-literals.ts';
export { addressesIn, beginsPrivateKey, endsPrivateKey, mayHoldSecret } from './secret-words.ts';
export { UnreadableError } from './unreadable.ts';
export { compileSchema, type Validate } from './validate.ts';
