import { useEffect, useRef } from 'preact/hooks';
import UPlot from 'uplot';

/** A line of a chart. */
export interface Series {
  readonly label: string;
  /** Name of a CSS variable with the color, as in `--good`. */
  readonly color: string;
  /** Null where a value is missing. */
  readonly values: readonly (number | null)[];
}

export interface ChartProps {
  /** Name of the chart, also for screen readers. */
  readonly title: string;
  /** Times of the values, in milliseconds since 1970. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  /** Formats a value with its unit. */
  readonly format: (value: number) => string;
}

const HEIGHT = 180;

/** Shortest time that a chart shows, in seconds. */
const MIN_SECONDS = 60;

/** Line chart of values over time; the last values are repeated as text. */
export function Chart({ title, times, series, format }: ChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot | null>(null);
  const shape = series.map(({ label, color }) => `${label}${color}`).join();

  useEffect(() => {
    const element = holder.current!;
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const draw = () => {
      plot.current?.destroy();
      plot.current = new UPlot(optionsOf(element, series, format), dataOf(times, series), element);
    };
    draw();
    dark.addEventListener('change', draw);
    const observer = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      dark.removeEventListener('change', draw);
      observer.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [shape]);

  useEffect(() => plot.current?.setData(dataOf(times, series)), [times, series]);

  return (
    <figure class="chart">
      <figcaption>
        {title}
        <span class="legend">
          {series.map(({ label, color, values }) => {
            const last = values.at(-1) ?? null;
            return (
              <span key={label}>
                <i class={`swatch swatch${color}`} aria-hidden="true" />
                {label} {last === null ? '–' : format(last)}
              </span>
            );
          })}
        </span>
      </figcaption>
      <div ref={holder} class="plot" aria-hidden="true" />
    </figure>
  );
}

function dataOf(times: readonly number[], series: readonly Series[]): UPlot.AlignedData {
  return [times.map((at) => at / 1000), ...series.map(({ values }) => [...values])];
}

/** A time in the zone of the reader, as in `21:34:05`. @param at seconds since 1970. */
function clockTime(at: number): string {
  return new Date(at * 1000).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' });
}

/** Value of a CSS variable as a color that a canvas understands. */
function resolvedColor(element: HTMLElement, name: string): string {
  const probe = document.createElement('i');
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function optionsOf(element: HTMLElement, series: readonly Series[], format: ChartProps['format']): UPlot.Options {
  const colorOf = (name: string): string => resolvedColor(element, name);
  const axis = { stroke: colorOf('--muted'), grid: { stroke: colorOf('--line'), width: 1 }, ticks: { show: false } };
  return {
    width: Math.max(100, element.clientWidth),
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { range: (_plot, least, most) => [Math.min(least, most - MIN_SECONDS), most] },
      y: { range: (_plot, _least, most) => [0, Math.max(most, 0.001) * 1.1] },
    },
    axes: [
      { ...axis, space: 90, size: 28, values: (_plot, times) => times.map(clockTime) },
      { ...axis, size: 70, values: (_plot, values) => values.map((value) => format(value)) },
    ],
    series: [
      {},
      ...series.map(({ label, color }) => ({ label, stroke: colorOf(color), width: 1.5, points: { show: false } })),
    ],
  };
}
