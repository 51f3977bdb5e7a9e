import { hrefHere } from './data/chains.js'
import { navigate, type PageName } from './data/route.js'

/** The key after `g`. */
const PLACES: Readonly<Record<string, PageName>> = { s: 'swap', m: 'market', v: 'solvers', o: 'orders' }
export const SEARCH_ID = 'search'

/** Listens for `/`, which leads to the search, and for `g` with the key of a place. */
export function listenForShortcuts(): void {
  let last = ''
  addEventListener('keydown', (event) => {
    const isTyped = (event.target as HTMLElement).closest('input, textarea, select, dialog') !== null
    if (isTyped || event.metaKey || event.ctrlKey || event.altKey) return
    const place = last === 'g' ? PLACES[event.key] : undefined
    last = event.key
    if (place !== undefined) navigate(hrefHere(place))
    if (event.key !== '/') return
    event.preventDefault()
    document.getElementById(SEARCH_ID)?.focus()
  })
}
