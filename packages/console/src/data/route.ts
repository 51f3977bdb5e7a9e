import { signal } from '@preact/signals'

/** The places of the console. */
const PAGES = ['swap', 'market', 'solvers', 'orders', 'solver', 'order', 'quote'] as const
export type PageName = (typeof PAGES)[number]

/** A place: a page (undefined for one that does not exist), the id of what it shows, and its parameters, all of which are in the URL after `#`. */
export interface Route {
  readonly page: PageName | undefined
  /** An address, an order's id or a quote's id; empty for pages without one. */
  readonly id: string
  readonly query: URLSearchParams
}

/** Reads what follows `#`. Nothing is the first page. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?')
  const [name = '', id = ''] = path.split('/')
  const page = name === '' ? 'swap' : PAGES.find((each) => each === name)
  return { page, id: decode(id), query: new URLSearchParams(query) }
}

/** Writes the link to a place. Parameters that are undefined are left out. */
export function hrefTo(
  page: PageName,
  id = '',
  query: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const set = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  const text = new URLSearchParams(set).toString()
  return `#/${page}${id === '' ? '' : `/${encodeURIComponent(id)}`}${text === '' ? '' : `?${text}`}`
}

/** The place that the address bar shows. */
export const route = signal(parseRoute(location.hash))
addEventListener('hashchange', () => {
  route.value = parseRoute(location.hash)
})

/** Goes to a place. */
export function navigate(href: string): void {
  location.hash = href
}

/** Changes the place without a step in the browser's history. */
export function replaceRoute(href: string): void {
  history.replaceState(null, '', href)
  route.value = parseRoute(href)
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}
