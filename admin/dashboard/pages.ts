import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type Koa from 'koa';
import type { AdminSettings } from '#contract';
import { Problem } from '../problem.ts';

/** The files of the dashboard. */
export interface Pages {
  /** @returns the content of a file; null if the file, or the whole dashboard, is not part of this installation. */
  read(name: string): Promise<Buffer | null>;
}

/** Folders in which a package and a clone have the dashboard. */
const folders = ['../../dashboard', '../../dist/dashboard'].map((path) => {
  return fileURLToPath(new URL(path, import.meta.url));
});

/** Reads a file when it is requested. @param folder with the files. Default: the one of this installation. */
export function openPages(folder?: string): Pages {
  const places = folder === undefined ? folders : [folder];
  return {
    async read(name) {
      for (const place of places) {
        try {
          return await readFile(join(place, name));
        } catch (error) {
          const { code } = error as NodeJS.ErrnoException;
          if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
        }
      }
      return null;
    },
  };
}

const START_PAGE = 'index.html';

/** Files are named by their content, so that a browser that has one needs no newer one. */
const FILE = /^\/dashboard\/([\w-]+\.(?:js|css|svg))$/;

const mediaTypes: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/**
 * The page runs its own files only, is never shown in a frame, and connects to its own gateway only. Text of clients that
 * a fault of the page made markup would neither run nor load.
 */
const headers: Readonly<Record<string, string>> = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
};

/** Serves the dashboard at `/`, without a token: the page requests data with the token of its user. */
export function servePages(pages: Pages, settings: () => AdminSettings): Koa.Middleware {
  return async (ctx, next) => {
    const name = ctx.path === '/' ? START_PAGE : FILE.exec(ctx.path)?.[1];
    if (name === undefined || (ctx.method !== 'GET' && ctx.method !== 'HEAD')) return next();
    if (!settings().dashboard) throw new Problem('not-found', 'the dashboard is disabled by admin/api.dashboard');
    const content = await pages.read(name);
    if (!content) {
      const missing = 'this installation does not contain the dashboard: in a clone, build it with npm run dashboard';
      throw new Problem('not-found', name === START_PAGE ? missing : `${ctx.path} does not exist`);
    }
    ctx.set(headers);
    if (name !== START_PAGE) ctx.set('Cache-Control', 'private, max-age=31536000, immutable');
    ctx.type = mediaTypes[name.slice(name.lastIndexOf('.') + 1)]!;
    ctx.body = content;
  };
}
