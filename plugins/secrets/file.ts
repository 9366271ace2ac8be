// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a configuration
import { isUtf8 } from 'node:buffer';
import { resolve, sep } from 'node:path';
import {
  atService,
  type DataObject,
  definePlugin,
  type SecretStore,
  type Site,
  type StoredSecret,
  setKey,
} from '#contract';

/** Maximum size of a file with secrets, in bytes. */
const MAX_BYTES = 1024 * 1024;
/** Maximum number of files in a directory of secrets. */
const MAX_FILES = 100;

/** Secrets in files, such as those that Kubernetes, Docker and agents of vaults mount. */
export const plugin = definePlugin({
  name: 'secrets/file',
  description:
    'Reads secrets from files: `${file:/run/secrets/db}` is the content without its last line break, and `${file:/run/secrets/db#password}` is a field of a JSON file, or a file in a directory. Files are watched: a change is applied like a change of the configuration.',
  independent: true,
  places: [
    atService(
      {
        type: 'object',
        title: 'Secrets in files',
        examples: [{ directories: ['/run/secrets', '/etc/sluice/secrets'] }],
        properties: {
          directories: {
            type: 'array',
            items: { type: 'string', minLength: 1 },
            description:
              'Directories that secrets may be read from, at any depth. Paths are compared as written: a symbolic link in such a directory can lead to another. Default: any file that the gateway can read.',
            examples: [['/run/secrets']],
          },
        },
      },
      (site) => ({ secrets: storeOf(site, site.config.directories) }),
    ),
  ],
});

function storeOf(site: Site<unknown>, directories: readonly string[] | undefined): SecretStore {
  return {
    refreshMs: 0,
    fetch(path) {
      const absolute = resolve(path);
      if (directories && !directories.some((directory) => `${absolute}${sep}`.startsWith(resolve(directory) + sep))) {
        throw new Error(`the file is not in the "directories" of ${plugin.name}`);
      }
      return { content: contentOf(site, path) };
    },
  };
}

/** The text of a file, or the texts of the files in a directory, by name. */
function contentOf(site: Site<unknown>, path: string): StoredSecret['content'] {
  if (!site.isDirectory(path)) return textOf(site.read(path));
  const names = site.list(path).filter((name) => !name.startsWith('.'));
  if (names.length > MAX_FILES) throw new Error(`the directory has more than ${MAX_FILES} files`);
  const fields: DataObject = {};
  for (const name of names) {
    const file = `${path}/${name}`;
    if (!site.isDirectory(file)) setKey(fields, name, textOf(site.read(file)));
  }
  return fields;
}

/** @throws Error for a file that is too large, or not UTF-8. */
function textOf(bytes: Uint8Array): string {
  if (bytes.length > MAX_BYTES) throw new Error(`the file is larger than ${MAX_BYTES} bytes`);
  if (!isUtf8(bytes)) throw new Error('the file is not UTF-8');
  return Buffer.from(bytes)
    .toString()
    .replace(/\r?\n$/, '');
}
