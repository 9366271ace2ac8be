import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

export interface VirtualListProps<Item> {
  readonly label: string;
  readonly items: readonly Item[];
  /** Height of every row, in pixels. */
  readonly rowHeight: number;
  readonly keyOf: (item: Item) => string;
  readonly row: (item: Item) => ComponentChildren;
}

/** Rows drawn above and below the visible ones. */
const MARGIN = 10;

/** List of which only the visible rows are in the document, so that 10,000 items scroll smoothly. */
export function VirtualList<Item>({ label, items, rowHeight, keyOf, row }: VirtualListProps<Item>) {
  const holder = useRef<HTMLElement>(null);
  const [range, setRange] = useState({ from: 0, to: 60 });
  useEffect(() => {
    const element = holder.current!;
    const follow = () => {
      const from = Math.max(0, Math.floor(element.scrollTop / rowHeight) - MARGIN);
      const to = from + Math.ceil(element.clientHeight / rowHeight) + 2 * MARGIN;
      setRange((last) => (last.from === from && last.to === to ? last : { from, to }));
    };
    follow();
    element.addEventListener('scroll', follow, { passive: true });
    return () => element.removeEventListener('scroll', follow);
  }, [rowHeight, items.length]);
  const shown = items.slice(range.from, range.to);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section ref={holder} class="virtual" aria-label={label} tabIndex={0}>
      <ul style={{ height: `${items.length * rowHeight}px` }}>
        {shown.map((item, index) => (
          <li
            key={keyOf(item)}
            style={{ top: `${(range.from + index) * rowHeight}px`, height: `${rowHeight}px` }}
            aria-setsize={items.length}
            aria-posinset={range.from + index + 1}
          >
            {row(item)}
          </li>
        ))}
      </ul>
    </section>
  );
}
