export { findNear, type Near, nearest } from '#contract';
export { escapePointer, fieldName, joinPointer, parentPointer, parsePointer, valueAt } from '../values/pointer.ts';
export { underEnvironment } from './compatibility/environment.ts';
export { notSupportedYet, supportedRelatives } from './compatibility/not-supported.ts';
export { oldNamesOf, presentName } from './compatibility/old-names.ts';
export { oldNamespaceSchemas, withOldFields, withOldNames, withVersionTwo } from './compatibility/old-schema.ts';
export type {
  ConfigChange,
  ConfigDiff,
  DiffOptions,
  Effect,
  PatchOperation,
  RouteName,
} from './diff/config-diff.ts';
export { describeChange, stepsOf } from './diff/describe-change.ts';
export { canonicalData, diffConfigs } from './diff/diff-configs.ts';
export { type Change, editDocument } from './edit/edit-document.ts';
export { describeEdit, type MendedDocument, mendDocument } from './edit/mend-document.ts';
export { mendText } from './edit/mend-text.ts';
export { type Migration, planMigration } from './edit/migration.ts';
export { mayProtect } from './edit/protection.ts';
export { type Draft, draftFile, replaceFile } from './edit/replace-file.ts';
export { rewriteDocument } from './edit/rewrite-document.ts';
export { toVersionFour, type VersionFour } from './edit/to-version-four.ts';
export { withoutEffect } from './edit/without-effect.ts';
export { type Issue, issueLine, type RelatedIssue, toIssues, withoutSecrets } from './issues/issue.ts';
export { shownHost } from './normalize/hosts.ts';
export { normalizeInBatches } from './normalize/in-batches.ts';
export { isRaw, isUnread, type KnownPlugins, meaningsOf, nothingKnown } from './normalize/known-plugins.ts';
export {
  type Normalized,
  type NormalizeOptions,
  normalize,
  normalizeCooperatively as normalizeInSlices,
  notReported,
} from './normalize/normalize.ts';
export { type PathSegment, parseSegment, readSegment } from './normalize/path-segment.ts';
export { completePipe, mayHoldPipes, type NestedPipe, pipesIn } from './normalize/pipes.ts';
export { canonicalJson, cloneData, deepFreeze } from './normalize/plain-data.ts';
export { changedIn, renormalize, type Understood } from './normalize/renormalize.ts';
export { isSameData } from './normalize/same-data.ts';
export { openNeighbors } from './rules/open-neighbors.ts';
export { parseDuration, readDuration } from './schema/duration.ts';
export {
  closedObject,
  DEFINITIONS,
  innerSchemas,
  type JsonSchema,
  recursiveSchemas,
  toJsonSchema,
  toPublicSchema,
} from './schema/schema.ts';
export { unusedOptions } from './schema/unused-options.ts';
export { compileSchema, type Validate } from './schema/validate.ts';
export { maskStored, rememberStored, rememberText } from './secrets/read-secrets.ts';
export { errorsWithReferences } from './secrets/reference-errors.ts';
export {
  fillSecrets,
  type IsScheme,
  mayReferToSecrets,
  type SecretReference,
  type SecretValues,
  secretReferences,
  withTypedReferences,
} from './secrets/references.ts';
export {
  canBeSecret,
  type IsSecret,
  isReferenceAlone,
  isSecret,
  maskSecrets,
  maskTexts,
  secretPointers,
} from './secrets/secret.ts';
export { isMarked, markedLiterals, secretLiterals, secretWarning } from './secrets/secret-literals.ts';
export { addressesIn, beginsPrivateKey, endsPrivateKey, mayHoldSecret } from './secrets/secret-words.ts';
export { tokensIn } from './secrets/tokens-in-text.ts';
export {
  type Document,
  decodeText,
  type FormatName,
  formatNameOf,
  formatOf,
  parseDocument,
  parseJson,
  type Rendering,
} from './syntax/load.ts';
export { type KeyOrValue, type Position, PositionedError } from './syntax/position.ts';
export { type Before, demandPlain, parseAfter, readDocument } from './syntax/read-document.ts';
export { MAX_DEPTH } from './syntax/too-deep.ts';
export { UnreadableError } from './syntax/unreadable.ts';
