import { ConfigErrors } from '#contract';
import {
  type Examined,
  examine,
  type Gateway,
  hashOf,
  type Overrides,
  type Snapshot,
  secretsKnownTo,
  takeFingerprint,
  toIssues,
  toRefusal,
} from '#kernel';

/**
 * Looks at a configuration and keeps nothing.
 * @param reading also read the files that it names.
 * @param overrides what a command line adds to it.
 * @throws Refusal with every mistake.
 */
export async function examineSnapshot(
  { registry }: Gateway,
  { data, document }: Snapshot,
  reading: boolean,
  overrides: Overrides = {},
): Promise<Examined> {
  const examined = await examine(data, overrides, registry, reading);
  const { errors, warnings, phase } = examined;
  if (errors.length === 0) return examined;
  const isSecret = secretsKnownTo(registry);
  const refusal = toRefusal(new ConfigErrors(errors), phase, document, isSecret);
  refusal.warnings = toIssues(document, [...(document?.warnings ?? []), ...warnings], 'warning', isSecret);
  throw refusal;
}

/** What a configuration's hash would be if it served. */
export async function hashOfExamined({ config, files }: Examined): Promise<string> {
  return hashOf(await takeFingerprint(config), files);
}
