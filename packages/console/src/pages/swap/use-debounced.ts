import { useEffect, useRef, useState } from 'preact/hooks'
import type { Wish } from '../../wallet/swap-calls.js'

/** A wish that has not changed for some time: not each key asks solvers. */
export function useDebounced(wish: Wish | undefined, ms: number): Wish | undefined {
  const [settled, setSettled] = useState(wish)
  const key = keyOf(wish)
  const latest = useRef(wish)
  latest.current = wish
  useEffect(() => {
    if (key === keyOf(settled)) return
    const timer = setTimeout(() => setSettled(latest.current), ms)
    return () => clearTimeout(timer)
  }, [key, keyOf(settled)])
  // Without a wish nothing is asked, at once.
  return wish === undefined ? undefined : settled
}

/** Whether two wishes ask for the same. */
export const isSameWish = (a: Wish | undefined, b: Wish | undefined) => keyOf(a) === keyOf(b)

function keyOf(wish: Wish | undefined): string {
  return wish === undefined ? '' : Object.values(wish).join(' ')
}
