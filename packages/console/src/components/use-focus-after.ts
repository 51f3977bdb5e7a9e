import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** Moves the focus to an element when a change has removed the element that had it, or has replaced what the user saw. */
export function useFocusAfter(
  element: RefObject<HTMLElement | null>,
  state: unknown,
  isReplaced = false,
): void {
  const isFirst = useRef(true)
  useEffect(() => {
    if (!isFirst.current && (isReplaced || document.activeElement === document.body)) element.current?.focus()
    isFirst.current = false
  }, [state])
}
