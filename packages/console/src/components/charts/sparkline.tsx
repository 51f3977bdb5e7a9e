const WIDTH = 96
const HEIGHT = 22
const MARGIN = 3
const LEAST_HOURS = 3

/** A small line of values over time. @param values undefined where there are none */
export function Sparkline({
  values,
  label,
}: {
  readonly values: readonly (number | undefined)[]
  readonly label: string
}) {
  const known = values.filter((value) => value !== undefined)
  // A line of fewer says nothing.
  if (known.length < LEAST_HOURS) return <span class="muted">–</span>
  const highest = Math.max(...known, 1)
  const step = (WIDTH - 2 * MARGIN) / Math.max(1, values.length - 1)
  const points = values.flatMap((value, index) => {
    if (value === undefined) return []
    const height = (value / highest) * (HEIGHT - 2 * MARGIN)
    return [{ x: (MARGIN + index * step).toFixed(1), y: (HEIGHT - MARGIN - height).toFixed(1) }]
  })
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
      <polyline points={points.map(({ x, y }) => `${x},${y}`).join(' ')} />
    </svg>
  )
}
