import type { Data, DataObject } from '#contract';
import type { CollectionSettings } from './schema.ts';

/** A folder and its contents: folders first, as in Postman. */
interface Folder {
  readonly name: string;
  description?: string | undefined;
  readonly folders: Map<string, Folder>;
  readonly items: DataObject[];
}

/** Folders of a collection. Slashes in a name separate nested folders, which are created as needed. */
export class Folders {
  readonly #root = emptyFolder('');

  constructor(declared: NonNullable<CollectionSettings['folder']>) {
    for (const { name, description } of declared) this.#at(name).description ??= description;
  }

  /** @param folder path of the folder; undefined for the top level. */
  add(item: DataObject, folder: string | undefined): void {
    this.#at(folder ?? '').items.push(item);
  }

  /** All items and folders, from the top level down. */
  get content(): Data[] {
    return contentOf(this.#root);
  }

  #at(path: string): Folder {
    const names = path.split('/').map((name) => name.trim());
    return names.filter((name) => name !== '').reduce(folderIn, this.#root);
  }
}

function emptyFolder(name: string): Folder {
  return { name, folders: new Map(), items: [] };
}

function folderIn({ folders }: Folder, name: string): Folder {
  const folder = folders.get(name) ?? emptyFolder(name);
  folders.set(name, folder);
  return folder;
}

function contentOf({ folders, items }: Folder): Data[] {
  const inner = [...folders.values()].map((folder) => ({
    name: folder.name,
    ...(folder.description !== undefined && { description: folder.description }),
    item: contentOf(folder),
  }));
  return [...(inner as DataObject[]), ...items];
}
