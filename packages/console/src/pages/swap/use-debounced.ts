import { useEffect, useRef, useState } from 'preact/hooks'
import type { WantedSwap } from '../../wallet/swap-calls.js'

/** A wanted swap that has not changed for some time: not each key asks solvers. */
export function useDebounced(wanted: WantedSwap | undefined, ms: number): WantedSwap | undefined {
  const [settled, setSettled] = useState(wanted)
  const key = keyOf(wanted)
  const latest = useRef(wanted)
  latest.current = wanted
  useEffect(() => {
    if (key === keyOf(settled)) return
    const timer = setTimeout(() => setSettled(latest.current), ms)
    return () => clearTimeout(timer)
  }, [key, keyOf(settled)])
  // Without a wanted swap nothing is asked, at once.
  return wanted === undefined ? undefined : settled
}

/** Whether two wanted swaps ask for the same. */
export const isSameSwap = (a: WantedSwap | undefined, b: WantedSwap | undefined) => keyOf(a) === keyOf(b)

function keyOf(wanted: WantedSwap | undefined): string {
  return wanted === undefined ? '' : Object.values(wanted).join(' ')
}
