import { hrefHere } from './chains.js'

/**
 * Finds the place of what a person pasted: an address leads to its orders, a solver's to the solver, an order's id to the
 * order, a quote's id to its record.
 * @returns undefined for any other text
 */
export function placeOf(text: string, isSolver: (address: string) => boolean): string | undefined {
  const id = text.trim()
  if (/^0x[0-9a-f]{64}$/i.test(id)) return hrefHere('order', id.toLowerCase())
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) return hrefHere('quote', id.toLowerCase())
  if (!/^0x[0-9a-f]{40}$/i.test(id)) return undefined
  return isSolver(id) ? hrefHere('solver', id) : hrefHere('orders', '', { user: id })
}
