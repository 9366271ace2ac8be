import { secretLiterals } from '../../config/index.ts';
import type { Summary } from './summary.ts';

/** Secrets that stand in the configuration as they are. */
export function literalSecrets({ config }: Summary): string[] {
  return secretLiterals(config).map(({ pointer }) => pointer.replace(/^\/router(?=\/)/, '/extra_config/router'));
}
