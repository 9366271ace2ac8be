import { type Call, CallError, CancelledError, type Log, toCallError } from '#contract';
import { Budget, currentBudget } from './budget.ts';
import type { Chunk, Engine, LuaValue } from './engine.ts';
import { type LuaState, lauxlib, lua, raise, textOfBytes } from './fengari.ts';
import { setGlobals } from './libraries/index.ts';

/** Functions and objects that the host provides for a run. */
export interface RunHost {
  readonly call: Call;
  readonly log: Log;
  /** Writes output of the script. */
  print(line: string): void;
  /** Objects of this run, by the name of the global whose `load` returns them. */
  readonly loads: Readonly<Record<string, LuaLoad>>;
  /** Sends a request from the script. */
  readonly http: (request: ScriptRequest, call: Call) => Promise<ScriptResponse>;
  /** Formats the position of an error, as `name:line`, for the log. */
  place(name: string, line: number): string;
  /** Whether the optional libraries are disabled. */
  readonly isClosed: boolean;
}

export type LuaLoad = (L: LuaState) => void;

export interface ScriptRequest {
  readonly url: string;
  readonly method: string;
  readonly body: Uint8Array | null;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

export interface ScriptResponse {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

/** Failure of a script. */
export class LuaError extends CallError {
  constructor(message: string) {
    super('LUA_ERROR', message);
  }
}

/** Status of a thread that was ended from outside. */
const ENDED = -1;

/** Instructions between two time checks. */
const INSTRUCTIONS_A_LOOK = 200;

/** A promise that a function waits for, and the function that then pushes its results. */
interface Waiting {
  readonly promise: Promise<unknown>;
  readonly finish: (L: LuaState, settled: unknown) => number;
}

let running: Run | null = null;

/** The run whose script is currently executing. */
export function currentRun(): Run {
  return running!;
}

/** One script at one request: its globals, and its use of the budget. Its parts run one after another. */
export class Run {
  readonly engine: Engine;
  readonly host: RunHost;
  readonly #globals: LuaValue;
  readonly #budget: Budget;
  #ending: CallError | null = null;
  #thread: LuaState | null = null;
  #waiting: Waiting | null = null;
  #settled: unknown;

  constructor(engine: Engine, host: RunHost) {
    this.engine = engine;
    this.host = host;
    this.#globals = engine.newGlobals();
    this.#budget = new Budget(host.call.deadline);
  }

  /** Runs code to its end. @returns why the call must end; null if the code completed. */
  execute({ start }: Chunk): CallError | null | Promise<CallError | null> {
    const { main } = this.engine;
    const L = lua.lua_newthread(main);
    lua.lua_settop(main, 0);
    lua.lua_sethook(L, look, lua.LUA_MASKCOUNT, INSTRUCTIONS_A_LOOK);
    this.#thread = L;
    start(L);
    this.#globals(L);
    const made = this.#resume(L, 1);
    if (made !== lua.LUA_OK) return this.#failure(L);
    return this.#goOn(L);
  }

  #goOn(L: LuaState): CallError | null | Promise<CallError | null> {
    const status = this.#resume(L, 0);
    if (status === lua.LUA_OK) return null;
    if (status !== lua.LUA_YIELD) return this.#failure(L);
    const waiting = this.#waiting;
    if (!waiting) return new LuaError('attempt to yield from outside a coroutine');
    return this.#await(waiting.promise).then(
      (value) => {
        this.#settled = value;
        return this.#goOn(L);
      },
      (error: unknown) => toCallError(error),
    );
  }

  /** Waits until the promise settles or the call ends. A rejection is passed to the script. */
  #await(promise: Promise<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const { call } = this.host;
      const cancellation = call.onCancel((reason) =>
        reject(reason instanceof CallError ? reason : new CancelledError()),
      );
      promise
        .catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))))
        .then((value) => {
          cancellation.off();
          resolve(value);
        });
    });
  }

  #resume(L: LuaState, args: number): number {
    const outer = running;
    running = this;
    setGlobals(this.#globals);
    try {
      return this.#budget.run(() => lua.lua_resume(L, null, args));
    } catch (error) {
      // The call is ended here, because the engine does not expect a thread to end inside error handling.
      this.#ending ??= this.#budget.exceeded === null ? toCallError(error) : null;
      return ENDED;
    } finally {
      running = outer;
    }
  }

  /** Suspends the calling function until the promise has settled; its rejection becomes a script error. */
  wait(L: LuaState, promise: Promise<unknown>, finish: Waiting['finish']): number {
    if (L !== this.#thread || !lua.lua_isyieldable(L)) {
      promise.catch(() => {});
      raise(
        L,
        'asynchronous functions cannot be called in a coroutine, a metamethod or a function that a library calls',
      );
    }
    this.#waiting = { promise, finish };
    return lua.lua_yieldk(L, 0, 0, (thread) => {
      this.#waiting = null;
      const settled = this.#settled;
      this.#settled = undefined;
      // An error with its own status, such as a body that is too large, bypasses the script's error handling.
      if (settled instanceof CallError && settled.view.status !== undefined) this.end(settled);
      if (settled instanceof Error) raise(thread, settled.message);
      return finish(thread, settled);
    });
  }

  /** Ends the script, past all its error handlers, and the call with it. */
  end(error: CallError): never {
    this.#ending = error;
    return this.#budget.stop(error.message);
  }

  #failure(L: LuaState): CallError {
    if (this.#ending) return this.#ending;
    const { exceeded } = this.#budget;
    if (exceeded !== null) return new LuaError(`the script was terminated: ${exceeded}`);
    return new LuaError(this.#described(messageOf(L)));
  }

  /** Message with position, as in `attempt to call a nil value (pre-script:L1)`. */
  #described(message: string): string {
    const [, name, line, said] = /^([\w./ -]+?):(\d+): (.*)$/s.exec(message) ?? [];
    if (name === undefined) return message;
    const [, library] = /global '(string|math|os|io|coroutine)'/.exec(said!) ?? [];
    const isText = /attempt to index a string value/.test(said!);
    const missing = this.host.isClosed && (library !== undefined || isText);
    const hint = missing ? `; set "allow_open_libs": true to load the ${library ?? 'string'} library` : '';
    return `${said}${hint} (${this.host.place(name, Number(line))})`;
  }
}

function messageOf(L: LuaState): string {
  if (lua.lua_gettop(L) === 0) return 'no message';
  const type = lua.lua_type(L, -1);
  if (type === lua.LUA_TSTRING || type === lua.LUA_TNUMBER) return textOfBytes(lua.lua_tostring(L, -1)!);
  return `an error that is a ${textOfBytes(lua.lua_typename(L, type))}`;
}

/** Hook of all Lua threads, which checks the limits of their script. */
function look(L: LuaState): void {
  try {
    currentBudget()?.look();
  } catch (error) {
    // The engine runs no hook within a hook, and ignores how a hook ends, so error handlers would run unchecked unless
    // hooks are enabled again.
    (L as { allowhook?: number }).allowhook = 1;
    throw error;
  }
}

/** `print`: strings and printable values, separated by tabs. */
export function print(L: LuaState): number {
  const words: string[] = [];
  for (let arg = 1; arg <= lua.lua_gettop(L); arg++) {
    words.push(textOfBytes(lauxlib.luaL_tolstring(L, arg)));
    lua.lua_pop(L, 1);
  }
  currentRun().host.print(words.join('\t'));
  return 0;
}

/** `load()` of a global such as `request`. */
export function loader(name: string): (L: LuaState) => number {
  return (L) => {
    const load = currentRun().host.loads[name];
    if (!load) raise(L, `${name} is not available here`);
    load(L);
    return 1;
  };
}
