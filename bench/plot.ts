import type { Row } from './benchmark.js'

/** A line through measured points. */
export interface Series {
  readonly name: string
  readonly color: string
  readonly isDashed?: boolean
  readonly points: readonly { readonly x: number; readonly y: number }[]
}

/** A diagram with two logarithmic axes. */
export interface Plot {
  readonly title: string
  readonly xLabel: string
  readonly yLabel: string
  readonly series: readonly Series[]
}

const WIDTH = 720
const HEIGHT = 420
const AREA = { left: 70, right: 690, top: 80, bottom: 360 }
const SERVICE = '#0b62c4'
const LIMIT = '#b45309'
const GRID = '#d7dae0'

/** Throughput by number of solvers, at a number of connections, from the rows of the benchmark of quotes. */
export function throughputPlot(rows: readonly Row[], connections: number): Plot {
  const series = (server: string, name: string, color: string): Series => ({
    name,
    color,
    points: pointsOf(rows, { server, connections }, 'solvers', 'quotes/s'),
  })
  return {
    title: `Quotes per second, ${connections} connections`,
    xLabel: 'solvers asked for each quote',
    yLabel: 'quotes/s',
    series: [series('limit', 'limit', LIMIT), series('service', 'service', SERVICE)],
  }
}

/**
 * Latency under load, by number of connections, at a number of solvers, from the rows of the benchmark of
 * quotes.
 */
export function latencyPlot(rows: readonly Row[], solvers: number): Plot {
  const series = (server: string, quantile: 'median' | 'p99', color: string): Series => ({
    name: `${server}, ${quantile}`,
    color,
    isDashed: quantile === 'p99',
    points: pointsOf(rows, { server, solvers }, 'connections', `${quantile} ms`),
  })
  return {
    title: `Latency of a quote under load, ${solvers} solvers`,
    xLabel: 'connections, each asking again as soon as it is answered',
    yLabel: 'ms',
    series: [
      series('limit', 'median', LIMIT),
      series('limit', 'p99', LIMIT),
      series('service', 'median', SERVICE),
      series('service', 'p99', SERVICE),
    ],
  }
}

function pointsOf(rows: readonly Row[], having: Row, x: string, y: string): Series['points'] {
  const isWanted = (row: Row) =>
    typeof row[x] === 'number' && Object.entries(having).every(([column, value]) => row[column] === value)
  return rows.filter(isWanted).map((row) => ({ x: Number(row[x]), y: Number(row[y]) }))
}

/** A plot as an SVG document, dark on a white ground of its own, so that any page may show it. */
export function svg(plot: Plot): string {
  const points = plot.series.flatMap((series) => series.points)
  const xs = [...new Set(points.map(({ x }) => x))].sort((a, b) => a - b)
  const ys = ticksAround(points.map(({ y }) => y))
  const placeX = logScale(xs[0] ?? 1, xs.at(-1) ?? 1, AREA.left, AREA.right)
  const placeY = logScale(ys[0] ?? 1, ys.at(-1) ?? 1, AREA.bottom, AREA.top)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" font-family="system-ui, sans-serif" font-size="13" fill="#1f2328">`,
    `<title>${escaped(plot.title)}</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    text(plot.title, AREA.left, 26, ' font-size="16" font-weight="600"'),
    ...ys.map((y) => line(AREA.left, placeY(y), AREA.right, placeY(y), GRID)),
    ...ys.map((y) => text(String(y), AREA.left - 8, placeY(y) + 4, ' text-anchor="end"')),
    ...xs.map((x) => line(placeX(x), AREA.bottom, placeX(x), AREA.bottom + 5, '#1f2328')),
    ...xs.map((x) => text(String(x), placeX(x), AREA.bottom + 20, ' text-anchor="middle"')),
    text(plot.xLabel, (AREA.left + AREA.right) / 2, HEIGHT - 14, ' text-anchor="middle"'),
    text(plot.yLabel, AREA.left - 8, AREA.top - 14, ' text-anchor="end"'),
    ...plot.series.map((series) => curve(series, placeX, placeY)),
    ...plot.series.map((series, index) => legend(series, AREA.left + 10 + index * 150)),
    '</svg>',
    '',
  ].join('\n')
}

type Scale = (value: number) => number

/** Maps values of [from, to] to a range of coordinates, equal ratios equally far apart. */
function logScale(from: number, to: number, start: number, end: number): Scale {
  const span = Math.log(to / from) || 1
  return (value) => start + (Math.log(value / from) / span) * (end - start)
}

/** Round figures (1, 2 and 5 of each power of ten) from the last below all values to the first above them. */
export function ticksAround(values: readonly number[]): number[] {
  const lowest = Math.min(...values)
  const highest = Math.max(...values)
  const powers = Array.from({ length: 19 }, (_, index) => index - 9)
  const round = powers.flatMap((power) => [1, 2, 5].map((digit) => Number(`${digit}e${power}`)))
  const first = round.findLastIndex((tick) => tick <= lowest)
  const last = round.findIndex((tick) => tick >= highest)
  return round.slice(first, last + 1)
}

function curve({ color, isDashed, points }: Series, placeX: Scale, placeY: Scale): string {
  const places = points.map(({ x, y }) => ({ x: fixed(placeX(x)), y: fixed(placeY(y)) }))
  return [
    `<polyline points="${places.map(({ x, y }) => `${x},${y}`).join(' ')}" fill="none" stroke="${color}" stroke-width="2"${dashes(isDashed)}/>`,
    ...places.map(({ x, y }) => `<circle cx="${x}" cy="${y}" r="3.5" fill="${color}"/>`),
  ].join('\n')
}

function legend({ name, color, isDashed }: Series, x: number): string {
  const y = 54
  return [
    line(x, y - 4, x + 28, y - 4, color, ` stroke-width="2"${dashes(isDashed)}`),
    text(name, x + 34, y),
  ].join('\n')
}

function dashes(isDashed = false): string {
  return isDashed ? ' stroke-dasharray="6 4"' : ''
}

function line(x1: number, y1: number, x2: number, y2: number, color: string, attributes = ''): string {
  const ends = `x1="${fixed(x1)}" y1="${fixed(y1)}" x2="${fixed(x2)}" y2="${fixed(y2)}"`
  return `<line ${ends} stroke="${color}"${attributes}/>`
}

function text(content: string, x: number, y: number, attributes = ''): string {
  return `<text x="${fixed(x)}" y="${fixed(y)}"${attributes}>${escaped(content)}</text>`
}

function fixed(coordinate: number): number {
  return Math.round(coordinate * 10) / 10
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
