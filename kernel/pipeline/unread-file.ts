/** Stands in the place of a file's content where a configuration is examined without reading the files it names. */
export class UnreadFile extends Error {
  readonly path: string;

  constructor(path: string) {
    super(`${path} is not read`);
    this.name = new.target.name;
    this.path = path;
  }
}

/** True for a mistake that was only found because a file was not read: nothing can be said about its place. */
export function isUnread(error: unknown): boolean {
  return error instanceof Error && (error instanceof UnreadFile || isUnread(error.cause));
}
