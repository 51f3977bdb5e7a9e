import type { RefCallback } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'

/** The width of an element in pixels, as it changes, so that a chart has letters of one size at every width. */
export function useWidth<E extends Element>(): readonly [ref: RefCallback<E>, width: number] {
  const [element, setElement] = useState<E | null>(null)
  const [width, setWidth] = useState(640)
  useLayoutEffect(() => {
    if (element === null) return
    const measure = () => setWidth(Math.max(160, Math.round(element.getBoundingClientRect().width)))
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    measure()
    return () => observer.disconnect()
  }, [element])
  return [setElement, width]
}
