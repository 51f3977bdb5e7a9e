import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import { chartRange } from '../../format/chart-range.js'
import { formatAxisTime, formatMoment, zoneName } from '../../format/time.js'

interface PlotProps {
  readonly title: string
  /** What the values are. */
  readonly unit: string
  /** Unix times in seconds, the earliest first. */
  readonly times: readonly number[]
  /** One for each time. */
  readonly values: readonly number[]
  readonly format: (value: number) => string
  /** Stands between the title and the chart. */
  readonly children?: ComponentChildren
}

/** Room for the times at the left and in height, for the numbers at the right, and for a time of day. */
const LEFT = 28
const TIMES = 30
const NUMBERS = 68
const LABEL = 110
const MOST_PAUSES = 4

/**
 * A chart of a value over time, with the latest one, or the one that is pointed at. It has the size of its place. The library that
 * draws it is loaded with the first chart.
 */
export function Plot(props: PlotProps) {
  const { title, times, values, format } = props
  const place = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot>(null)
  const latest = useRef(props)
  latest.current = props
  const [pointed, setPointed] = useState<number>()
  useEffect(() => {
    const element = place.current
    if (element === null) return
    const dark = matchMedia('(prefers-color-scheme: dark)')
    let isGone = false
    const draw = async () => {
      const { UPlot } = await import('./draw.js')
      chart.current?.destroy()
      const onPoint = ({ cursor }: uPlot) => setPointed(cursor.idx ?? undefined)
      const options = { ...optionsOf(latest, element), hooks: { setLegend: [onPoint] } }
      chart.current = isGone ? null : new UPlot(options, dataOf(latest.current), element)
    }
    void draw()
    const sized = new ResizeObserver(() => chart.current?.setSize(sizeOf(element)))
    sized.observe(element)
    dark.addEventListener('change', draw)
    return () => {
      isGone = true
      sized.disconnect()
      dark.removeEventListener('change', draw)
      chart.current?.destroy()
    }
  }, [])
  useEffect(() => chart.current?.setData(dataOf(props)), [JSON.stringify([times, values])])
  const shown = pointed ?? values.length - 1
  const [at, value] = [times[shown], values[shown]]
  return (
    <>
      <p class="plot-title">
        <span class="muted">{title}</span>
        <span class="number">
          {pointed !== undefined && at !== undefined && <span class="muted">{formatMoment(at * 1000)} </span>}
          <strong>{value === undefined ? '' : format(value)}</strong>
        </span>
      </p>
      {props.children}
      <div class="plot" ref={place} role="img" aria-label={title} />
    </>
  )
}

const sizeOf = ({ clientWidth: width, clientHeight: height }: HTMLElement) => ({ width, height })

const dataOf = ({ times, values }: PlotProps): uPlot.AlignedData => [[...times], [...values]]

/** Times from the first to the last, as many as have room: a few rounded ones may leave one label, which is no scale. */
function spread({ width }: uPlot, _: number, first: number, last: number): number[] {
  const count = Math.max(2, Math.floor((width - LEFT - NUMBERS) / LABEL))
  return Array.from({ length: count + 1 }, (_, index) => first + ((last - first) * index) / count)
}

/** Where so many times the usual pause has no value, there is no line. */
function gapsOf({ data, valToPos }: uPlot): [from: number, to: number][] {
  const times = [...data[0]]
  const most = (MOST_PAUSES * ((times.at(-1) ?? 0) - (times[0] ?? 0))) / times.length
  return times.flatMap((at, index): [number, number][] => {
    const before = times[index - 1] ?? at
    return at - before > most ? [[valToPos(before, 'x', true), valToPos(at, 'x', true)]] : []
  })
}

/** The canvas knows no custom properties: the element has the colours. @param latest what the chart shows, as it changes */
function optionsOf(latest: { readonly current: PlotProps }, element: HTMLElement): uPlot.Options {
  const { color, borderTopColor, outlineColor, fontFamily } = getComputedStyle(element)
  const font = `12px ${fontFamily}`
  const axis = { stroke: outlineColor, font, labelFont: font, labelSize: 18, ticks: { show: false } }
  return {
    ...sizeOf(element),
    padding: [null, 0, null, LEFT],
    legend: { show: false },
    cursor: { y: false, drag: { x: false } },
    scales: { y: { range: () => chartRange(latest.current.values) } },
    axes: [
      {
        ...axis,
        label: `Time, ${zoneName()}`,
        grid: { show: false },
        size: TIMES,
        gap: 10,
        splits: spread,
        values: (_, all) => all.map((at) => formatAxisTime(at, (all.at(-1) ?? 0) - (all[0] ?? 0))),
      },
      {
        ...axis,
        label: latest.current.unit,
        grid: { stroke: borderTopColor, width: 1 },
        side: 1,
        size: NUMBERS,
        space: 30,
        values: (_, all) => all.map(latest.current.format),
      },
    ],
    series: [{}, { stroke: color, width: 2, points: { show: true, size: 5, fill: color }, gaps: gapsOf }],
  }
}
