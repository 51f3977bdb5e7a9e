import { hrefHere } from './data/chains.js'
import { navigate, type PageName } from './data/route.js'

/** The second key after `g`. */
export const PLACES_BY_KEY: Readonly<Record<string, PageName>> = {
  s: 'swap',
  m: 'market',
  v: 'solvers',
  o: 'orders',
}
export const SEARCH_ID = 'search'
const SEQUENCE_MS = 1500

/** Listens for `/`, which leads to the search, and for `g` with the key of a place. */
export function listenForShortcuts(): void {
  let goAt = Number.NEGATIVE_INFINITY
  addEventListener('keydown', (event) => {
    const target = event.target as HTMLElement
    if (
      event.metaKey ||
      event.ctrlKey ||
      event.altKey ||
      target.closest('input, textarea, select, dialog') !== null
    )
      return
    const place = PLACES_BY_KEY[event.key]
    if (event.key === '/') {
      event.preventDefault()
      document.getElementById(SEARCH_ID)?.focus()
    } else if (place !== undefined && event.timeStamp - goAt < SEQUENCE_MS) navigate(hrefHere(place))
    goAt = event.key === 'g' ? event.timeStamp : Number.NEGATIVE_INFINITY
  })
}
