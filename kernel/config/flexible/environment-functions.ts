import { type Functions, fn } from '../../templates/function.ts';
import { rememberSecret } from '../secrets/read-secrets.ts';

/** Template functions that read the environment. The values they read are masked wherever the configuration is shown. */
export function environmentFunctions(environment: Readonly<Record<string, string | undefined>>): Functions {
  const read = (name: string): string => {
    const value = environment[name] ?? '';
    rememberSecret(value);
    return value;
  };
  return {
    env: fn('string', read),
    expandenv: fn('string', (text) =>
      text.replace(/\$(?:\{(\w+)\}|([A-Za-z_]\w*|[0-9*#$@!?-]))/g, (_, braced?: string, plain?: string) =>
        read((braced ?? plain)!),
      ),
    ),
  };
}
