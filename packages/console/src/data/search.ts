import { chain, hrefHere } from './chains.js'
import { latestEvents } from './events.js'
import { solvers } from './solvers/solvers.js'
import { tokenOf, tokensOf } from './tokens/tokens.js'

/**
 * Finds the place of what a person pasted: a solver's address or name leads to the solver, a token's address or symbol to a swap of
 * it, any other address to its orders, an order's id or a transaction of the latest events to the order, a quote's id to
 * its record.
 * @returns undefined for any other text
 */
export function placeOf(text: string): string | undefined {
  const id = text.trim()
  if (/^(0x)?[0-9a-f]{64}$/i.test(id)) return hrefHere('order', orderOf(`0x${id.slice(-64).toLowerCase()}`))
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) return hrefHere('quote', id.toLowerCase())
  if (!/^0x[0-9a-f]{40}$/i.test(id)) return placeOfName(id) ?? placeOfSymbol(id)
  if (solvers.value.has(id.toLowerCase())) return hrefHere('solver', id)
  const isToken = tokenOf(chain.value?.chainId ?? 0, id) !== undefined
  return isToken ? hrefHere('swap', '', { sell: id }) : hrefHere('orders', '', { user: id })
}

/** @param hash an order's id, or the hash of a transaction */
function orderOf(hash: string): string {
  const entry = latestEvents.value.find(({ transactionHash }) => transactionHash === hash)
  return entry?.orderId ?? hash
}

/** Anyone can choose any name, so several lead to the list with their addresses. */
function placeOfName(text: string): string | undefined {
  const wanted = text.toLowerCase()
  const all = [...solvers.value.values()].filter(({ name }) => name.toLowerCase().startsWith(wanted))
  const exact = all.filter(({ name }) => name.toLowerCase() === wanted)
  const [first, ...others] = exact.length > 0 ? exact : all
  if (first === undefined || wanted === '') return undefined
  return others.length > 0 ? hrefHere('solvers') : hrefHere('solver', first.address)
}

function placeOfSymbol(text: string): string | undefined {
  const wanted = text.toLowerCase()
  const token = tokensOf(chain.value?.chainId ?? 0).find(
    ({ symbol, isListed }) => isListed && symbol?.toLowerCase() === wanted,
  )
  return token && hrefHere('swap', '', { sell: token.address })
}
