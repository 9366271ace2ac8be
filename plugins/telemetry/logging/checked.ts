import { anyCase, findNear, type LogLevel, type Site } from '#contract';
import { PatternError, variablesOf } from './pattern.ts';

/** Names of header variables whose values are credentials. */
const credentials = /^(?:header|reqHeader|respHeader)\.(?:authorization|proxy-authorization|cookie|set-cookie)$/i;

/**
 * Compiles a configured pattern and warns about credentials that it prints.
 * @param pointer to the pattern, relative to the site.
 * @throws ConfigError LOGGING_PATTERN with the column of the error.
 */
export function checked<T>(site: Site<unknown>, pointer: string, pattern: string, compile: (pattern: string) => T): T {
  for (const name of variablesOf(pattern)) {
    if (!credentials.test(name)) continue;
    site.warn('LOGGING_CREDENTIALS', pointer, `%{${name}} writes credentials to the log`);
  }
  try {
    return compile(pattern);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw site.fault('LOGGING_PATTERN', pointer, error.message, {
      within: error.within,
      hint: error.hint,
      cause: error,
    });
  }
}

/** Returns the pattern with a line break at its end; warns if it had none. */
export function withLineBreak(site: Site<unknown>, pointer: string, pattern: string): string {
  if (pattern.endsWith('\n')) return pattern;
  site.warn('LOGGING_LINE_BREAK', pointer, 'the pattern does not end with a line break: one is added');
  return `${pattern}\n`;
}

const levels: readonly string[] = ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'] satisfies LogLevel[];

/** Regular expression for level names. */
export const LEVEL_PATTERN = anyCase(levels);

const levelName = new RegExp(LEVEL_PATTERN);

/** Parses a level name, in any letter case. @throws ConfigError LOGGING_LEVEL */
export function levelOf(site: Site<unknown>, pointer: string, text: string): LogLevel {
  const level = text.toUpperCase();
  if (levelName.test(text)) return level as LogLevel;
  const whole = levels.find((name) => level.length > 2 && name.startsWith(level));
  const near = whole === undefined ? findNear(text, levels) : { name: whole, isSure: true };
  throw site.fault('LOGGING_LEVEL', pointer, `unknown level "${text}"`, {
    hint: near ? `did you mean "${near.name}"?` : `one of ${levels.join(', ')}`,
    fix: near?.isSure ? { value: near.name } : undefined,
  });
}
