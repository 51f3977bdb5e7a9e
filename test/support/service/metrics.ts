/** The labels of a series by their names. */
export type Labels = Readonly<Record<string, string>>

/** One series of a metric with its value. */
export interface Series {
  readonly name: string
  readonly labels: Labels
  readonly value: number
}

/** What a process exports at one moment. */
export type Metrics = ReturnType<typeof parseMetrics>

const SERIES = /^([a-zA-Z_:][\w:]*)(?:\{((?:[^"}]|"(?:[^"\\]|\\.)*")*)\})? (\S+)(?: -?\d+)?$/
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g
const ESCAPES: Labels = { '\\\\': '\\', '\\"': '"', '\\n': '\n' }

/**
 * Reads Prometheus's text format, as `GET /metrics` returns it. What it returns throws an Error with the first line that it reads and
 * that is neither a comment nor a series.
 */
export function parseMetrics(text: string) {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const series = (name: string, labels: Labels = {}): readonly Series[] =>
    lines
      .filter((line) => line.startsWith(name))
      .map(parseSeries)
      .filter((one) => one.name === name && hasLabels(one, labels))

  return {
    /** Every series, in the order of the text. */
    get all(): readonly Series[] {
      return lines.map(parseSeries)
    },
    /** The series of a metric that have these labels, and possibly others. */
    series,
    /** Their sum. 0 when there is none. */
    sum: (name: string, labels?: Labels): number =>
      series(name, labels).reduce((sum, { value }) => sum + value, 0),
    /** The value of the only one. Undefined when there is none. @throws Error when there are several */
    value(name: string, labels?: Labels): number | undefined {
      const [first, ...others] = series(name, labels)
      if (others.length > 0) throw new Error(`${others.length + 1} series of ${name} have these labels`)
      return first?.value
    },
  }
}

/**
 * Reads the metrics of a service that requires no password for them.
 * @param url of the service
 */
export async function readMetrics(url: string): Promise<Metrics> {
  const response = await fetch(`${url}/metrics`)
  const text = await response.text()
  if (!response.ok) throw new Error(`GET /metrics responded with ${response.status}: ${text}`)
  return parseMetrics(text)
}

function parseSeries(line: string): Series {
  const [, name, labels = '', value = ''] = SERIES.exec(line) ?? []
  if (name === undefined) throw new Error(`not a series: ${line}`)
  const pairs = [...labels.matchAll(LABEL)].map(([, label = '', text = '']) => [label, unescaped(text)])
  return { name, labels: Object.fromEntries(pairs), value: parseValue(value) }
}

function parseValue(text: string): number {
  const infinity = /^([+-]?)Inf$/.exec(text)
  return infinity === null ? Number(text) : Number(`${infinity[1]}Infinity`)
}

function unescaped(text: string): string {
  return text.replace(/\\[\\"n]/g, (one) => ESCAPES[one] ?? one)
}

function hasLabels(series: Series, labels: Labels): boolean {
  return Object.entries(labels).every(([label, value]) => series.labels[label] === value)
}
