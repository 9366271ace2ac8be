import { json } from '@codemirror/lang-json';
import { yaml } from '@codemirror/lang-yaml';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { unifiedMergeView } from '@codemirror/merge';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { basicSetup } from 'codemirror';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Issue } from '../api/client.ts';
import type { Format } from '../views/configuration/base.ts';
import { schemaHelp } from './schema-help.ts';

/** A line to which the editor scrolls, and moves the cursor and the focus. */
export interface Target {
  readonly line: number;
}

export interface EditorProps {
  readonly text: string;
  readonly format: Format;
  readonly readOnly: boolean;
  /** Errors and warnings, marked at their line and column. */
  readonly issues: readonly Issue[];
  /** Text to show the difference to; null to show none. */
  readonly original: string | null;
  /** JSON Schema of the configuration, for completion and descriptions; null until it is loaded. */
  readonly schema: object | null;
  /** Line to go to; a new object goes there again. */
  readonly target: Target | null;
  onChange(text: string): void;
  /** Corrects the error at a JSON pointer; null if the text cannot be corrected. */
  readonly onFix: ((pointer: string) => void) | null;
}

const languages: Readonly<Record<Format, () => Extension>> = { json, yaml };

/**
 * Editor of a configuration. It is in a shadow tree, where its styles apply without inline styles, which the page's
 * content security policy forbids.
 */
export function Editor({ text, format, readOnly, issues, original, schema, target, onChange, onFix }: EditorProps) {
  const holder = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const parts = useRef({ help: new Compartment(), merge: new Compartment(), writable: new Compartment() }).current;
  const change = useRef(onChange);
  change.current = onChange;
  const fix = useRef(onFix);
  fix.current = onFix;

  useEffect(() => {
    const host = holder.current!;
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: text,
        extensions: [
          basicSetup,
          languages[format](),
          lintGutter(),
          parts.help.of([]),
          parts.merge.of([]),
          parts.writable.of([]),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': 'Configuration', tabindex: '0' }),
          theme,
          syntaxHighlighting(colors),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) change.current(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => {
      editor.destroy();
      view.current = null;
    };
  }, [format]);

  // Runs before the next key is handled: a later effect would replace newer text of the editor by this one, in an endless loop.
  useLayoutEffect(() => {
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === text) return;
    editor.dispatch({ changes: differenceOf(editor.state.doc.toString(), text) });
  }, [text]);

  useEffect(() => {
    const help = schema && format === 'json' ? schemaHelp(schema) : [];
    view.current?.dispatch({ effects: parts.help.reconfigure(help) });
  }, [schema, format]);

  useEffect(() => {
    const merge = original === null ? [] : unifiedMergeView({ original, mergeControls: false });
    view.current?.dispatch({ effects: parts.merge.reconfigure(merge) });
  }, [original, format]);

  useEffect(() => {
    const fixed = [EditorState.readOnly.of(true), EditorView.editable.of(false)];
    view.current?.dispatch({ effects: parts.writable.reconfigure(readOnly ? fixed : []) });
  }, [readOnly, format]);

  useEffect(() => {
    const editor = view.current;
    if (editor)
      editor.dispatch(
        setDiagnostics(
          editor.state,
          issues.flatMap((issue) => diagnosticOf(editor, issue, fix.current)),
        ),
      );
  }, [issues]);

  useEffect(() => {
    const editor = view.current;
    if (!editor || !target || target.line > editor.state.doc.lines) return;
    const { from } = editor.state.doc.line(target.line);
    editor.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: 'center' }) });
    editor.focus();
  }, [target]);

  return <div ref={holder} class="editor" />;
}

/** The part between the common beginning and the common end of two texts: the cursor stays where it is. */
function differenceOf(before: string, after: string): { from: number; to: number; insert: string } {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < most - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  return { from: head, to: before.length - tail, insert: after.slice(head, after.length - tail) };
}

/** Marks an issue; none for an issue of another file, or of a text that has changed since. */
function diagnosticOf({ state: { doc } }: EditorView, issue: Issue, onFix: EditorProps['onFix']): Diagnostic[] {
  const { line, column = 1, endLine = line, endColumn, severity, message, hint, code } = issue;
  if (line === undefined || line > doc.lines) return [];
  const from = Math.min(doc.line(line).from + column - 1, doc.line(line).to);
  const last = endLine !== undefined && endLine <= doc.lines ? doc.line(endLine) : doc.line(line);
  const to = endColumn === undefined ? doc.line(line).to : Math.min(last.from + endColumn - 1, last.to);
  const text = hint === undefined ? message : `${message}\n${hint}`;
  const actions = issue.fixable && onFix ? [{ name: 'Fix', apply: () => onFix(issue.pointer) }] : [];
  return [
    {
      from,
      to: Math.max(from, to),
      severity: severity === 'error' ? 'error' : 'warning',
      message: text,
      source: code,
      actions,
    },
  ];
}

const colors = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warning)' },
  { tag: tags.comment, color: 'var(--muted)' },
]);

/** Colors follow the variables of the page, which a shadow tree inherits. */
const theme = EditorView.theme({
  '&': { height: '60vh', fontSize: '13px', color: 'var(--text)', backgroundColor: 'var(--surface)' },
  // The page draws the focus around the holder of the editor.
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)' },
  '.cm-gutters': { backgroundColor: 'var(--background)', color: 'var(--muted)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--hover)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-tooltip': { backgroundColor: 'var(--surface)', color: 'var(--text)', border: '1px solid var(--line)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': { backgroundColor: 'var(--selection)' },
  '.cm-panels': { backgroundColor: 'var(--background)', color: 'var(--text)' },
});
