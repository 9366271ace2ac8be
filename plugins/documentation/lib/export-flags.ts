import type { CommandCall } from '#contract';

/** Flags shared by all export commands. @param output default output without `-o`. */
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

/** Returns the file of `-c`, and rejects further arguments; null after showing the usage of the command. */
export function configFileOf({ values, positionals, stderr }: CommandCall, usage: string): string | null {
  if (typeof values['config'] === 'string' && positionals.length === 0) return values['config'];
  stderr.write(`a configuration is required: sluice ${usage} -c FILE\n`);
  return null;
}
