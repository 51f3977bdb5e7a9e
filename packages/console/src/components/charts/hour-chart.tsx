import { useWidth } from './use-width.js'

const HEIGHT = 96
const BASE = HEIGHT - 16
/** Bars of fewer hours would be walls. */
const LEAST_HOURS = 6

interface HourChartProps {
  readonly title: string
  /** One value for each hour, the oldest first; undefined where there is none. */
  readonly values: readonly (number | undefined)[]
  /** The value of the whole height; the highest one when left out. */
  readonly most?: number
  readonly format: (value: number) => string
}

/** A small chart of one value over the hours of a window, one bar an hour. It begins with the second hour. */
export function HourChart({ title, values, most, format }: HourChartProps) {
  const known = values.filter((value) => value !== undefined)
  const highest = most ?? Math.max(...known, 1)
  const [ref, width] = useWidth<SVGSVGElement>()
  // A young instance has no empty hours before its first one.
  const from = Math.min(
    values.findIndex((value) => value !== undefined),
    values.length - LEAST_HOURS,
  )
  const shown = values.slice(Math.max(0, from))
  const step = width / shown.length
  const last = known.at(-1)
  if (last === undefined || known.length < 2) return null
  return (
    <figure class="hour-chart">
      <figcaption>
        <span>{title}</span>
        <span class="number">{format(last)}</span>
      </figcaption>
      <svg
        ref={ref}
        viewBox={`0 0 ${width} ${HEIGHT}`}
        height={HEIGHT}
        role="img"
        aria-label={`${title}, by hour. Latest: ${format(last)}`}
      >
        <line class="hour-base" x1={0} x2={width} y1={BASE} y2={BASE} />
        {shown.map((value, index) => {
          if (value === undefined) return null
          const height = Math.max(1, (value / highest) * (BASE - 8))
          return (
            <rect
              key={index}
              x={index * step + 0.5}
              width={Math.max(1, step - 1)}
              y={BASE - height}
              height={height}
            >
              <title>{`${shown.length - 1 - index} h ago: ${format(value)}`}</title>
            </rect>
          )
        })}
        <text x={0} y={HEIGHT - 3}>
          {shown.length - 1} h ago
        </text>
        <text class="hour-now" x={width} y={HEIGHT - 3}>
          now
        </text>
      </svg>
    </figure>
  )
}
