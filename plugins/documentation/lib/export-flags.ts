import type { CommandCall } from '#contract';

/** The flags of every command that writes what it makes of a configuration. @param output where, without `-o`. */
export function exportFlags(output: string) {
  return {
    config: { type: 'string', short: 'c', value: 'FILE', about: 'The configuration. Required.' },
    output: {
      type: 'string',
      short: 'o',
      value: 'FILE',
      default: output,
      about: 'Output file. - writes to standard output.',
    },
  } as const;
}

/** The file of `-c`, and nothing besides; null once the usage of a command has been shown. */
export function configFileOf({ values, positionals, stderr }: CommandCall, usage: string): string | null {
  if (typeof values['config'] === 'string' && positionals.length === 0) return values['config'];
  stderr.write(`a configuration is required: sluice ${usage} -c FILE\n`);
  return null;
}
