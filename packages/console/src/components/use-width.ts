import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** The width of an element in pixels, as it changes, so that a chart has letters of one size at every width. */
export function useWidth<E extends Element>(): readonly [ref: RefObject<E | null>, width: number] {
  const ref = useRef<E>(null)
  const [width, setWidth] = useState(640)
  useLayoutEffect(() => {
    const { current } = ref
    if (current === null) return
    const measure = () => setWidth(Math.max(160, Math.round(current.getBoundingClientRect().width)))
    const observer = new ResizeObserver(measure)
    observer.observe(current)
    measure()
    return () => observer.disconnect()
  }, [])
  return [ref, width]
}
