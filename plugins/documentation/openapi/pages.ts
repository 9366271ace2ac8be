import { type DataObject, HeaderBag, type OwnRoute, printJson, Reply } from '#contract';
import { renderPage } from './page.ts';

/** Runs no script and asks nobody: whatever a description holds is text. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

/** A page for people at a path, and the document for programs below it. Both are made once. */
export function documentPages(path: string, document: DataObject): OwnRoute[] {
  const below = path === '/' ? '/openapi.json' : `${path}/openapi.json`;
  const pages = [
    { path, type: 'text/html; charset=utf-8', text: renderPage(document, below), about: 'A page on what is served.' },
    { path: below, type: 'application/json', text: printJson(document), about: 'What is served, in OpenAPI.' },
  ];
  return pages.map(({ path: at, type, text, about }) => {
    const body = Buffer.from(text);
    const headers = ['Content-Type', type, 'Content-Security-Policy', POLICY, 'X-Content-Type-Options', 'nosniff'];
    return {
      method: 'GET',
      path: at,
      description: about,
      handle() {
        const reply = Reply.raw(200, new HeaderBag(headers), body);
        reply.complete = null;
        return reply;
      },
    };
  });
}
