const WIDTH = 96
const HEIGHT = 22

/** A small line of values over time. @param values undefined where there are none */
export function Sparkline({
  values,
  label,
}: {
  readonly values: readonly (number | undefined)[]
  readonly label: string
}) {
  const known = values.filter((value) => value !== undefined)
  if (known.length === 0) return <span class="muted">–</span>
  const highest = Math.max(...known, 1)
  const step = (WIDTH - 4) / Math.max(1, values.length - 1)
  const points = values.flatMap((value, index) =>
    value === undefined
      ? []
      : [`${(2 + index * step).toFixed(1)},${(HEIGHT - 2 - (value / highest) * (HEIGHT - 4)).toFixed(1)}`],
  )
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      <line class="sparkline-base" x1={0} x2={WIDTH} y1={HEIGHT - 1} y2={HEIGHT - 1} />
      {/* A line needs two hours: one hour is a dot. */}
      {points.length === 1 ? <Dot point={points[0] ?? ''} /> : <polyline points={points.join(' ')} />}
    </svg>
  )
}

function Dot({ point }: { readonly point: string }) {
  const [x, y] = point.split(',')
  return <circle cx={x} cy={y} r={2.5} />
}
