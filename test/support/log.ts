import type { Log } from '#contract';

/** A log that records its lines, such as `ERROR [PREFIX] text`. */
export function rememberingLog(lines: string[] = [], prefix = ''): Log & { readonly lines: readonly string[] } {
  const write = (level: string) => (message: string | (() => string)) => {
    lines.push(`${level} ${prefix}${typeof message === 'string' ? message : message()}`);
  };
  return {
    lines,
    debug: write('DEBUG'),
    info: write('INFO'),
    warning: write('WARNING'),
    error: write('ERROR'),
    critical: write('CRITICAL'),
    at: (more) => rememberingLog(lines, `${prefix}${more} `),
  };
}
