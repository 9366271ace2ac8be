import { ConfigError, type Data, type DataObject, isObject, setKey } from '#contract';
import { ConfigErrors } from '../../contract/internal.ts';
import { joinPointer } from '../../values/pointer.ts';
import { rememberSecret } from '../secrets/read-secrets.ts';
import { convertText, typedPlaceholder } from '../secrets/typed-text.ts';

/** Keeps an escaped reference to a secret as it is, because references to secrets are read later. */
const PLACEHOLDER = /\$\$\{(?:(?:file|vault|aws-sm):)?|\$\{(?:file:([^{}#]+)|([A-Za-z_]\w*)(?::([-?])([^{}]*))?)\}/g;

/** Sources of interpolated values. */
interface Sources {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** @throws Error with the reason. */
  readonly readFile: (path: string) => string;
}

/**
 * Interpolates `${NAME}`, `${NAME:-default}`, `${NAME:?message}` and `${file:/path}` in the values of a document; `$${`
 * is a literal `${`. A value that consists of one placeholder followed by `!int` or `!bool` becomes a number or a
 * boolean. Keys are not changed.
 * @throws ConfigErrors TEMPLATE_VARIABLE with every unset variable and every unreadable file.
 */
export function interpolate(data: Data, sources: Sources): Data {
  const errors: ConfigError[] = [];
  const visit = (value: Data, pointer: string): Data => {
    if (typeof value === 'string') return value.includes('${') ? filled(value, pointer) : value;
    if (Array.isArray(value)) return value.map((item, index) => visit(item, joinPointer(pointer, index)));
    if (!isObject(value)) return value;
    const result: DataObject = {};
    for (const key of Object.keys(value)) setKey(result, key, visit(value[key]!, joinPointer(pointer, key)));
    return result;
  };
  const filled = (text: string, pointer: string): Data => {
    const typed = typedPlaceholder(text);
    try {
      if (!typed) return fillIn(text, sources);
      const result = fillIn(typed.placeholder, sources);
      // A reference to a secret with a type suffix is converted later, when its value is known.
      return result === typed.placeholder ? text : convertText(result, typed.type);
    } catch (error) {
      errors.push(new ConfigError('TEMPLATE_VARIABLE', pointer, (error as Error).message, { cause: error }));
      return text;
    }
  };
  const result = visit(data, '');
  if (errors.length > 0) throw new ConfigErrors(errors);
  return result;
}

function fillIn(text: string, { environment, readFile }: Sources): string {
  return text.replace(PLACEHOLDER, (written, file?: string, name?: string, kind?: string, rest?: string) => {
    if (written === '$${') return '${';
    if (written.startsWith('$$')) return written;
    const value = file === undefined ? environment[name!] : readFile(file).replace(/\r?\n$/, '');
    // With a default or an error message, an empty variable counts as unset.
    if (value !== undefined && (value !== '' || kind === undefined)) {
      rememberSecret(value);
      return value;
    }
    if (kind === '-') return rest!;
    throw new Error(kind === '?' && rest ? `${name}: ${rest}` : `the environment variable ${name} is not set`);
  });
}
