/** Reads the files of one attempt; each is read once. */
export interface FileReader {
  /** @throws the file system's error. */
  read(path: string): Uint8Array;
  /** Returns the names of a directory's entries. @throws the file system's error. */
  list(path: string): readonly string[];
}
