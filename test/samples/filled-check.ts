import { type Ended, sluice } from '../kernel/cli/command.ts';
import { setEnvironment } from '../support/environment.ts';

/** Checks a sample whose placeholders are replaced from the environment, as its README describes. */
export async function checkFilled(file: string, variables: Readonly<Record<string, string>>): Promise<Ended> {
  const restore = setEnvironment({ GATEWAY_ENV_INTERPOLATION: '1', ...variables });
  try {
    return await sluice('check', '-c', file);
  } finally {
    restore();
  }
}
