import { currentBudget, MAX_STRING_BYTES } from '../budget.ts';
import { type LuaFunction, type LuaState, lauxlib, lua, raise } from '../fengari.ts';
import { LuaPatternError, Matcher, POSITION } from './pattern.ts';

const { luaL_checkinteger: integerArg, luaL_checkstring: bytesArg } = lauxlib;

/** Characters with a special meaning in patterns. */
const special = /[\^$*+?.([%-]/;

/** String functions whose time or memory is not bounded by the size of their input. */
export const stringFunctions: Readonly<Record<string, LuaFunction>> = {
  find: (L) => search(L, true),
  match: (L) => search(L, false),
  gmatch(L) {
    const matcher = new Matcher(bytesArg(L, 1), bytesArg(L, 2));
    let at = 0;
    lua.lua_pushcfunction(L, (thread) =>
      matching(thread, () => {
        for (; at <= matcher.source.length; at++) {
          const end = matcher.match(at);
          if (end < 0) continue;
          const count = pushCaptures(thread, matcher, at, end);
          at = end === at ? end + 1 : end;
          return count;
        }
        return 0;
      }),
    );
    return 1;
  },
  gsub: (L) => matching(L, () => replaceAll(L)),
  rep(L) {
    const text = bytesArg(L, 1);
    const count = Math.max(Math.floor(integerArg(L, 2)), 0);
    if (text.length * count > MAX_STRING_BYTES)
      currentBudget()!.stop(`a string of more than ${MAX_STRING_BYTES} bytes`);
    const made = Buffer.alloc(text.length * count);
    if (text.length > 0) made.fill(text);
    lua.lua_pushstring(L, new Uint8Array(made.buffer, made.byteOffset, made.length));
    return 1;
  },
};

function matching(L: LuaState, run: () => number): number {
  try {
    return run();
  } catch (error) {
    if (error instanceof LuaPatternError) raise(L, error.message);
    throw error;
  }
}

/** `string.find` and `string.match`. */
function search(L: LuaState, isFind: boolean): number {
  const source = bytesArg(L, 1);
  const pattern = bytesArg(L, 2);
  const first = lua.lua_type(L, 3) <= 0 ? 1 : Math.floor(integerArg(L, 3));
  const start = first > 0 ? Math.min(first - 1, source.length) : Math.max(first === 0 ? 0 : source.length + first, 0);
  if (isFind && (lua.lua_toboolean(L, 4) || !special.test(latin1(pattern)))) {
    const at = asBuffer(source).indexOf(asBuffer(pattern), start);
    if (at < 0) return nothing(L);
    return pushRange(L, at, at + pattern.length);
  }
  return matching(L, () => {
    const isAnchored = pattern[0] === ANCHOR;
    const matcher = new Matcher(source, pattern);
    for (let at = start; at <= source.length; at++) {
      const end = matcher.match(at, isAnchored ? 1 : 0);
      if (end >= 0) {
        if (!isFind) return pushCaptures(L, matcher, at, end);
        pushRange(L, at, end);
        return 2 + (matcher.captures.length > 0 ? pushCaptures(L, matcher, at, end) : 0);
      }
      if (isAnchored) break;
    }
    return nothing(L);
  });
}

const ANCHOR = 94;
const ESCAPE = 37;

function nothing(L: LuaState): number {
  lua.lua_pushnil(L);
  return 1;
}

function pushRange(L: LuaState, start: number, end: number): number {
  lua.lua_pushnumber(L, start + 1);
  lua.lua_pushnumber(L, end);
  return 2;
}

/** Pushes the captures of a match, or the whole match if it has no captures. */
function pushCaptures(L: LuaState, matcher: Matcher, start: number, end: number): number {
  const { captures } = matcher;
  if (captures.length === 0) {
    lua.lua_pushstring(L, matcher.source.subarray(start, end));
    return 1;
  }
  for (let at = 0; at < captures.length; at++) pushCapture(L, matcher, at, start, end);
  return captures.length;
}

function pushCapture(L: LuaState, { captures, source }: Matcher, at: number, start: number, end: number): void {
  const capture = captures[at];
  if (!capture) {
    if (at > 0) throw new LuaPatternError(`invalid capture index %${at + 1}`);
    lua.lua_pushstring(L, source.subarray(start, end));
  } else if (capture.length === POSITION) lua.lua_pushnumber(L, capture.start + 1);
  else if (capture.length < 0) throw new LuaPatternError('unfinished capture');
  else lua.lua_pushstring(L, source.subarray(capture.start, capture.start + capture.length));
}

/** Pieces of a string under construction, up to the longest allowed string. */
class Pieces {
  readonly #pieces: Uint8Array[] = [];
  #length = 0;

  add(piece: Uint8Array): void {
    this.#length += piece.length;
    if (this.#length > MAX_STRING_BYTES) currentBudget()!.stop(`a string of more than ${MAX_STRING_BYTES} bytes`);
    if (piece.length > 0) this.#pieces.push(piece);
  }

  join(): Uint8Array {
    const { buffer, byteOffset, length } = Buffer.concat(this.#pieces, this.#length);
    return new Uint8Array(buffer, byteOffset, length);
  }
}

function replaceAll(L: LuaState): number {
  const source = bytesArg(L, 1);
  const pattern = bytesArg(L, 2);
  const kind = lua.lua_type(L, 3);
  const { LUA_TFUNCTION, LUA_TNUMBER, LUA_TSTRING, LUA_TTABLE } = lua;
  if (![LUA_TNUMBER, LUA_TSTRING, LUA_TTABLE, LUA_TFUNCTION].includes(kind)) {
    raise(L, `bad argument #3 to 'gsub' (string/function/table expected)`);
  }
  const most = lua.lua_type(L, 4) <= 0 ? source.length + 1 : integerArg(L, 4);
  const isAnchored = pattern[0] === ANCHOR;
  const matcher = new Matcher(source, pattern);
  const made = new Pieces();
  let at = 0;
  let kept = 0;
  let count = 0;
  while (count < most) {
    const end = matcher.match(at, isAnchored ? 1 : 0);
    if (end >= 0) {
      count++;
      made.add(source.subarray(kept, at));
      made.add(replacement(L, matcher, at, end, kind));
      kept = end;
    }
    if (end > at) at = end;
    else at++;
    if (at > source.length || isAnchored) break;
  }
  made.add(source.subarray(kept));
  lua.lua_pushstring(L, made.join());
  lua.lua_pushnumber(L, count);
  return 2;
}

function replacement(L: LuaState, matcher: Matcher, start: number, end: number, kind: number): Uint8Array {
  const whole = matcher.source.subarray(start, end);
  if (kind === lua.LUA_TFUNCTION) {
    lua.lua_pushvalue(L, 3);
    lua.lua_call(L, pushCaptures(L, matcher, start, end), 1);
  } else if (kind === lua.LUA_TTABLE) {
    pushCapture(L, matcher, 0, start, end);
    lua.lua_gettable(L, 3);
  } else return filledIn(L, matcher, start, end);
  const isKept = !lua.lua_toboolean(L, -1);
  const text = isKept ? whole : lua.lua_tostring(L, -1);
  if (text === null) raise(L, 'invalid replacement value');
  lua.lua_pop(L, 1);
  return text;
}

/** Expands `%0` to `%9` in the replacement string. */
function filledIn(L: LuaState, matcher: Matcher, start: number, end: number): Uint8Array {
  const template = lua.lua_tostring(L, 3)!;
  if (!template.includes(ESCAPE)) return template;
  const made = new Pieces();
  for (let at = 0; at < template.length; at++) {
    if (template[at] !== ESCAPE) {
      made.add(template.subarray(at, at + 1));
      continue;
    }
    const digit = template[++at] ?? 0;
    if (digit === 48) made.add(matcher.source.subarray(start, end));
    else if (digit >= 49 && digit <= 57) {
      pushCapture(L, matcher, digit - 49, start, end);
      made.add(lua.lua_tostring(L, -1)!);
      lua.lua_pop(L, 1);
    } else made.add(template.subarray(at, at + 1));
  }
  return made.join();
}

function asBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}

function latin1(bytes: Uint8Array): string {
  return asBuffer(bytes).toString('latin1');
}
