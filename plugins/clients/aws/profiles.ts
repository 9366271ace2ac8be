import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { BackendError } from '#contract';

/** Environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

type Section = ReadonlyMap<string, string>;

/** Reads the profile that the environment selects from the shared files; an empty section if it does not exist. @throws BackendError AWS_CREDENTIALS when a file cannot be read for now. */
export async function readProfile(environment: Environment): Promise<Section> {
  const name = environment['AWS_PROFILE'] || 'default';
  const home = environment['HOME'] || homedir();
  const [config, credentials] = await Promise.all([
    readSections(environment['AWS_CONFIG_FILE'] || join(home, '.aws/config')),
    readSections(environment['AWS_SHARED_CREDENTIALS_FILE'] || join(home, '.aws/credentials')),
  ]);
  const own = credentials.get(name) ?? none;
  return new Map([...(config.get(`profile ${name}`) ?? config.get(name) ?? none), ...own]);
}

/** Errors of files that this process is not meant to have. Any other error is transient, such as EMFILE. */
const unavailable: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES', 'EPERM']);

const none: Section = new Map();

async function readSections(path: string): Promise<ReadonlyMap<string, Section>> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    if (unavailable.has((cause as NodeJS.ErrnoException).code)) return new Map();
    throw new BackendError('AWS_CREDENTIALS', `cannot read ${path}`, { cause });
  }
  const sections = new Map<string, Map<string, string>>();
  let section = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const header = /^\s*\[\s*([^\]]*?)\s*\]/.exec(line)?.[1];
    if (header !== undefined) {
      section = sections.get(header) ?? new Map();
      sections.set(header, section);
      continue;
    }
    const [, key, value] = /^([^\s#;=][^=]*?)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (key !== undefined) section.set(key.toLowerCase(), value!);
  }
  return sections;
}
