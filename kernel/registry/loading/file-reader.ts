/** Reads the files of one attempt; each is read once. */
export interface FileReader {
  /** @throws the error of the file system. */
  read(path: string): Uint8Array;
  /** The names of a directory's entries. @throws the error of the file system. */
  list(path: string): readonly string[];
}
