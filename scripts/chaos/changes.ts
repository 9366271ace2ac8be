import { rename, writeFile } from 'node:fs/promises';
import { broken, configuration, type Places } from './configuration.ts';
import type { GatewayProcess } from './gateway.ts';

/** Target of the changes. */
export interface Target {
  readonly gateway: GatewayProcess;
  readonly file: string;
  readonly places: Places;
}

/** Resolves once the gateway serves the configuration of this revision. */
async function serves({ gateway }: Target, revision: number): Promise<void> {
  for (;;) {
    const { body } = await gateway.admin('GET', '/v1/config?pointer=/name');
    if (JSON.stringify(body).includes(`revision ${revision}"`)) return;
  }
}

/** Resolves once the gateway has rejected a configuration. @param attempt ID of the last attempt before the configuration was submitted. */
async function refused({ gateway }: Target, attempt: number): Promise<void> {
  for (;;) {
    const { body } = await gateway.admin('GET', '/v1/attempts?limit=1');
    const [last] = (body.attempts ?? body.items) as { id: number; result: string }[];
    if (last!.id > attempt && last!.result === 'failed') return;
  }
}

async function lastAttempt({ gateway }: Target): Promise<number> {
  const { body } = await gateway.admin('GET', '/v1/attempts?limit=1');
  return ((body.attempts ?? body.items) as { id: number }[])[0]!.id;
}

async function saveByRename({ file }: Target, text: string): Promise<void> {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}

type Way = (target: Target, text: string) => Promise<void>;

const ways: readonly Way[] = [
  // Renames a new file to the path of the old one, which the watcher detects.
  saveByRename,
  // Sends a signal; the watcher may have detected the change before.
  async (target, text) => {
    await saveByRename(target, text);
    target.gateway.child.kill('SIGHUP');
  },
  // Writes the file in place, which the watcher detects.
  ({ file }, text) => writeFile(file, text),
];

/** Applies a valid configuration: mostly through the API, otherwise as a file, in turn. */
export async function apply(target: Target, revision: number): Promise<void> {
  const text = JSON.stringify(configuration(revision, target.places));
  const way = revision % 8 === 0 ? ways[(revision / 8) % ways.length] : undefined;
  if (way) {
    await way(target, text);
    await serves(target, revision);
    return;
  }
  const { status, body } = await target.gateway.admin('PUT', '/v1/config?persist=none', text);
  if (status !== 200) throw new Error(`revision ${revision} was refused: ${JSON.stringify(body)}`);
}

/** Submits a broken configuration, which must be rejected. */
export async function offerBroken(target: Target, revision: number): Promise<void> {
  const text = broken[revision % broken.length]!(revision, target.places);
  if (revision % 5 === 0) {
    const attempt = await lastAttempt(target);
    await saveByRename(target, text);
    await refused(target, attempt);
    return;
  }
  const { status } = await target.gateway.admin('PUT', '/v1/config?persist=none', text);
  if (status < 400) throw new Error(`a broken configuration was answered ${status}`);
}
