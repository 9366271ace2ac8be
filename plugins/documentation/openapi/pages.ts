import { type DataObject, HeaderBag, type OwnRoute, printJson, Reply } from '#contract';
import { renderPage } from './page.ts';

/** Runs no script and asks nobody: whatever a description holds is text. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

/**
 * A page for people at a path, and the document for programs below it.
 * @param describe makes the document, once, when it is first asked for: by then everything in it has been checked.
 */
export function documentPages(path: string, describe: () => DataObject): OwnRoute[] {
  const below = path === '/' ? '/openapi.json' : `${path}/openapi.json`;
  let described: DataObject | undefined;
  const document = (): DataObject => {
    described ??= describe();
    return described;
  };
  return [
    ownRoute(path, 'A page on what is served.', 'text/html; charset=utf-8', () => renderPage(document(), below)),
    ownRoute(below, 'What is served, in OpenAPI.', 'application/json', () => printJson(document())),
  ];
}

function ownRoute(path: string, description: string, type: string, print: () => string): OwnRoute {
  const headers = ['Content-Type', type, 'Content-Security-Policy', POLICY, 'X-Content-Type-Options', 'nosniff'];
  let body: Uint8Array | undefined;
  return {
    method: 'GET',
    path,
    description,
    handle() {
      body ??= Buffer.from(print());
      const reply = Reply.raw(200, new HeaderBag(headers), body);
      reply.complete = null;
      return reply;
    },
  };
}
