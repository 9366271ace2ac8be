import { readFile, stat } from 'node:fs/promises';
import { adminSchema, type Log } from '#contract';
import { adminScopes, compileSchema, parseJson } from '#kernel';
import { hashOfToken, type TokenEntry } from './tokens.ts';

const validate = compileSchema(adminSchema.properties.tokens);

/**
 * Parses a token file: one token with all scopes, or a JSON list of `{id, sha256, scopes}`.
 * @throws ConfigErrors when such a list is invalid; Error when the file is empty.
 */
function parseTokens(text: string, file: string, id: string): readonly TokenEntry[] {
  const content = text.trim();
  if (content === '') throw new Error('it is empty');
  if (!content.startsWith('[')) return [tokenWithEveryScope(id, content)];
  const { value, errors } = validate(parseJson(text, file), '');
  if (errors.length > 0) throw errors[0]!;
  return value as readonly TokenEntry[];
}

/** @param id name of the token in the audit log. */
export function tokenWithEveryScope(id: string, token: string): TokenEntry {
  return { id, sha256: hashOfToken(token), scopes: [...adminScopes] };
}

/**
 * Reads a file of tokens again whenever it has changed. A file that cannot be read, or is not valid, admits no client.
 * @param id name of the token in the audit log, if the file holds one token only.
 */
export function watchTokenFile(file: string, log: Log, id = 'file'): () => Promise<readonly TokenEntry[]> {
  let mark = '';
  let entries: readonly TokenEntry[] = [];
  const read = async (): Promise<void> => {
    try {
      entries = parseTokens(await readFile(file, 'utf8'), file, id);
    } catch (error) {
      entries = [];
      log.error(`no token is valid: ${file}: ${(error as Error).message}`);
    }
  };
  return async () => {
    const now = await markOf(file);
    if (now !== mark) {
      // The file is read after its modification time, so that the next check detects a change in between.
      await read();
      mark = now;
    }
    return entries;
  };
}

async function markOf(file: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    return `${ino}:${size}:${mtimeNs}:${ctimeNs}`;
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}
