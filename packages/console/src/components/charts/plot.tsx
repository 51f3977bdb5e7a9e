import { useEffect, useRef, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import { chartRange } from '../../format/chart-range.js'
import { formatAxisTime, formatMoment } from '../../format/time.js'

interface PlotProps {
  readonly title: string
  /** Unix times in seconds, the earliest first. */
  readonly times: readonly number[]
  /** One for each time; undefined where there is none. */
  readonly values: readonly (number | undefined)[]
  readonly height: number
  readonly format: (value: number) => string
}

/** Room for the times at the left and in height, for the numbers at the right, and for a time of day. */
const LEFT = 28
const TIMES = 26
const NUMBERS = 64
const LABEL = 110

/** A chart of a value over time, with the latest one, or the one that is pointed at. The library that draws it is loaded with the first chart. */
export function Plot(props: PlotProps) {
  const { title, times, values, height, format } = props
  const place = useRef<HTMLDivElement>(null)
  const [pointed, setPointed] = useState<number>()
  useEffect(() => {
    const element = place.current
    if (element === null) return
    const dark = matchMedia('(prefers-color-scheme: dark)')
    let chart: uPlot | undefined
    let isGone = false
    const draw = async () => {
      const { UPlot } = await import('./draw.js')
      chart?.destroy()
      const options = { ...optionsOf(props, element), hooks: { setLegend: [onPoint] } }
      chart = isGone ? undefined : new UPlot(options, [[...times], [...values]], element)
    }
    const onPoint = ({ cursor }: uPlot) => setPointed(cursor.idx ?? undefined)
    void draw()
    const sized = new ResizeObserver(() => chart?.setSize({ width: element.clientWidth, height }))
    sized.observe(element)
    dark.addEventListener('change', draw)
    return () => {
      isGone = true
      sized.disconnect()
      dark.removeEventListener('change', draw)
      chart?.destroy()
    }
  }, [JSON.stringify([times, values]), height])
  const shown = pointed ?? values.findLastIndex((value) => value !== undefined)
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
      <div class="plot" ref={place} role="img" aria-label={title} />
    </>
  )
}

/** Times from the first to the last, as many as have room: a few rounded ones may leave one label, which is no scale. */
function spread({ width }: uPlot, _: number, first: number, last: number): number[] {
  const count = Math.max(2, Math.floor((width - LEFT - NUMBERS) / LABEL))
  return Array.from({ length: count + 1 }, (_, index) => first + ((last - first) * index) / count)
}

/** The canvas knows no custom properties: the element has the colours. */
function optionsOf({ times, values, height, format }: PlotProps, element: HTMLElement): uPlot.Options {
  const { color, borderTopColor, outlineColor, fontFamily } = getComputedStyle(element)
  const axis = { stroke: outlineColor, font: `12px ${fontFamily}`, ticks: { show: false } }
  const spanSeconds = (times.at(-1) ?? 0) - (times[0] ?? 0)
  return {
    width: element.clientWidth,
    height,
    padding: [null, 0, null, LEFT],
    legend: { show: false },
    cursor: { y: false, drag: { x: false } },
    scales: { y: { range: () => chartRange(values) } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: TIMES,
        splits: spread,
        values: (_, all) => all.map((at) => formatAxisTime(at, spanSeconds)),
      },
      {
        ...axis,
        grid: { stroke: borderTopColor, width: 1 },
        side: 1,
        size: NUMBERS,
        values: (_, all) => all.map(format),
      },
    ],
    series: [
      {},
      {
        stroke: color,
        width: 2,
        spanGaps: true,
        points: { size: 5, fill: color },
      },
    ],
  }
}
