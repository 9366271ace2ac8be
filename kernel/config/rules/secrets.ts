import { ConfigError, type DataObject } from '#contract';
import type { KnownPlugins } from '../known-plugins.ts';
import type { Report } from '../report.ts';
import { type SecretLiteral, secretLiterals } from '../secrets/secret-literals.ts';

/**
 * Secrets are not written into the file. No message shows one.
 *
 * Code: a warning, SECRET_LITERAL.
 */
export function checkSecrets(document: DataObject, known: KnownPlugins, report: Report): void {
  for (const literal of secretLiterals(document, known)) report.warnings.push(secretWarning(literal));
}

/** The warning of a secret in clear. */
export function secretWarning({ pointer, what, within }: SecretLiteral): ConfigError {
  return new ConfigError('SECRET_LITERAL', pointer, `${what} is written in clear`, {
    within,
    hint: 'keep it out of the file, put it in when the file is deployed',
  });
}
