import type { components, paths } from 'admin-api';

/** Bodies of the admin API, by name. */
export type Schemas = components['schemas'];

/** Paths that can be read with GET. */
export type ReadablePath = {
  [Path in keyof paths]: paths[Path] extends {
    get: { responses: { 200: { content: { 'application/json': unknown } } } };
  }
    ? Path
    : never;
}[keyof paths];

/** Response body of GET for a path. */
export type Body<Path extends ReadablePath> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Content } } } };
}
  ? Content
  : never;

export type Problem = Schemas['Problem'];
export type Issue = Schemas['Issue'];

/** Rejection of a request, or its failure; `status` 0 means that the gateway did not respond. */
export class ApiError extends Error {
  readonly status: number;
  readonly problem: Problem | null;

  constructor(status: number, message: string, problem: Problem | null = null) {
    super(message);
    this.status = status;
    this.problem = problem;
  }
}

/** Key of the token in the storage of the browser tab. */
const TOKEN = 'sluice.token';

export const storedToken = {
  get: (): string | null => sessionStorage.getItem(TOKEN),
  set: (token: string): void => sessionStorage.setItem(TOKEN, token),
  clear: (): void => sessionStorage.removeItem(TOKEN),
};

export interface SendOptions {
  readonly method?: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Replaces the stored token. */
  readonly token?: string;
  readonly signal?: AbortSignal;
}

/**
 * Sends a request with the token of the tab.
 * @throws ApiError unless the response has a status of 2xx.
 */
export async function send(path: string, options: SendOptions = {}): Promise<Response> {
  const { method = 'GET', query = {}, headers = {}, body, signal } = options;
  const token = options.token ?? storedToken.get();
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  const text = search.toString();
  let response: Response;
  try {
    response = await fetch(text === '' ? path : `${path}?${text}`, {
      method,
      headers: { ...(token !== null && { Authorization: `Bearer ${token}` }), ...headers },
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
      cache: 'no-store',
      credentials: 'omit',
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, 'The gateway does not respond.');
  }
  if (response.ok) return response;
  throw await errorOf(response);
}

async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '');
  try {
    const problem = JSON.parse(text) as Problem;
    return new ApiError(response.status, problem.detail ?? problem.title, problem);
  } catch {
    return new ApiError(response.status, `The gateway responded with status ${response.status}.`);
  }
}

/** Reads a path of the admin API. @throws ApiError. */
export async function read<Path extends ReadablePath>(path: Path, options: SendOptions = {}): Promise<Body<Path>> {
  return (await send(path, options)).json() as Promise<Body<Path>>;
}

/** Exchanges a one-time code for a token. @throws ApiError. */
export async function openSession(code: string): Promise<string> {
  const response = await send('/v1/dashboard/sessions', { method: 'POST', token: code });
  return ((await response.json()) as { token: string }).token;
}
